/** Runs `bench`: opens, warms up and times all variants of a part in turns, then takes the model's profile. */

import { readdir, readFile } from 'node:fs/promises';
import { arch, cpus, loadavg, platform } from 'node:os';
import { join } from 'node:path';
import { withoutUndefined } from '../../src/base/json/without-undefined.js';
import type { JsonObject } from '../../src/base/json.js';
import { readDefinition } from '../../src/detection/read-definition.js';
import type { TilesByPart } from '../../src/detection/tiles/part-tiles.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openSimulated } from '../../src/quant/simulate/open-simulated.js';
import { type Captured, openCaptured } from '../../src/runtime/capture/captured.js';
import type { Runner } from '../../src/runtime/device/runner.js';
import { simulateParams } from '../../src/runtime/device/runner-params.js';
import { BENCH_FORMAT, type BenchReport, type Conditions, type Form, type PartReport } from '../../src/runtime/measure/bench-report.js';
import { type ModelProfile, parseProfile } from '../../src/runtime/measure/profile.js';
import { openRunner } from '../../src/runtime/open-runner.js';
import { openSession, sessionManifest } from '../../src/runtime/session/session.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile, writeMetricsFile } from '../../src/stage/json-file.js';
import { getOutputPath, readInput } from '../../src/stage/paths.js';
import { runnerFiles } from '../../src/stage/runner-port.js';
import { StageError } from '../../src/stage/stage-error.js';
import { describeBest, metricsOf, reportForm, reportPart, type TimedVariant } from './bench-report.js';
import { type FeedRequest, openFeeds, type PartFeeds } from './feeds.js';
import type { BenchParams } from './params.js';
import { readMeasured } from './read-measured.js';
import { describeDisturbed, makeSpread } from './spread.js';
import { findStep, openTiledFeeds } from './tiled-feeds.js';
import { openVariants } from './variants.js';

type BenchJob = StageJob<BenchParams>;

/** @throws DetectionError `bad-recipe`; StageError `no-models`, `measured-input`, `no-row-counts`; RuntimeError of models, captures and profiles; RunnerError of external runners. */
export async function runBench(job: BenchJob): Promise<void> {
  const { params, inputs, outputs, context } = job;
  if (inputs.measured !== undefined) {
    const { report, metrics } = await readMeasured(inputs);
    await writeJsonFile(getOutputPath(outputs, 'report'), report);
    await writeMetricsFile(getOutputPath(outputs, 'metrics'), metrics);
    return;
  }
  const parts = findParts(job);
  const captured = inputs.captured === undefined ? undefined : await readInput(inputs, 'captured', openCaptured);
  const tiles = inputs.recipe === undefined ? {} : readDefinition({ recipe: await readInput(inputs, 'recipe', readJsonFile) }).tiles;
  const paths = parts.flatMap(([part, models]) => models.map(([, path]) => [part, path] as const));
  const runner = await openRunner(params, runnerFiles(inputs), context, paths, openSimulated);
  try {
    const before = readConditions();
    const reports: PartReport[] = [];
    for (const [done, [part, models]] of parts.entries()) {
      context.progress(done, parts.length, 'parts');
      reports.push(await benchPart(job, runner, { part, models, captured, tiles }));
    }
    context.progress(parts.length, parts.length, 'parts');
    const { warmup, repeats } = params;
    const where = describeWhere(params, runner);
    const conditions = { before, after: readConditions() };
    const report: BenchReport = { format: BENCH_FORMAT, where, conditions, warmup, repeats, parts: reports };
    for (const line of describeBest(report)) context.log('info', line);
    for (const line of describeDisturbed(reports)) context.log('warning', line);
    await writeJsonFile(getOutputPath(outputs, 'report'), report);
    await writeMetricsFile(getOutputPath(outputs, 'metrics'), { ...metricsOf(report), spread: makeSpread(reports) });
  } finally {
    await runner.close();
  }
}

type Models = readonly (readonly [Form, string])[];

function findParts({ inputs }: BenchJob): readonly (readonly [string, Models])[] {
  const parts = new Map<string, (readonly [Form, string])[]>();
  for (const form of ['float', 'int8'] as const) {
    const record = inputs[form];
    for (const [part, path] of Object.entries(typeof record === 'object' ? record : {}))
      parts.set(part, [...(parts.get(part) ?? []), [form, path]]);
  }
  if (parts.size === 0) {
    throw new StageError('no-models', 'no model is connected', {
      help: 'connect `float`, `int8` or both, each a record of models by part',
    });
  }
  return [...parts];
}

interface PartJob {
  readonly part: string;
  readonly models: Models;
  readonly captured: Captured | undefined;
  readonly tiles: TilesByPart;
}

async function benchPart({ params, context }: BenchJob, runner: Runner, { part, models, captured, tiles }: PartJob): Promise<PartReport> {
  // What users deploy is timed: ONNX Runtime's own choice of kernels.
  const options = { optimization: params.optimization, threads: params.threads, quantized: 'fused' } as const;
  const opened: {
    readonly form: Form;
    readonly path: string;
    readonly feeds: PartFeeds;
    readonly model: Awaited<ReturnType<typeof openVariants>>;
  }[] = [];
  try {
    for (const [form, path] of models) {
      const feeds = await feedsOf({ part, model: await readModel(path), captured, params, random: context.random(part) }, tiles);
      opened.push({ form, path, feeds, model: await openVariants(runner, path, feeds, params, options) });
    }
    const timed = await timeInterleaved(
      opened.map(({ model }) => model.variants),
      params,
      context.signal,
    );
    const forms = [];
    for (const [index, { form, path, feeds, model }] of opened.entries()) {
      const profile =
        params.operators && params.runner === 'cpu'
          ? await profileModel(path, feeds, params, join(context.scratch, `${part}-${form}`))
          : undefined;
      forms.push(reportForm(form, timed[index] ?? [], feeds.counts, { profile, placement: model.placement() }));
    }
    const [first] = opened;
    if (first === undefined) throw new StageError('no-models', `part "${part}" has no model`);
    return reportPart(part, first.feeds, forms);
  } finally {
    for (const { model } of opened) await model.close();
  }
}

async function feedsOf(request: FeedRequest, tiles: TilesByPart): Promise<PartFeeds> {
  const step = findStep(tiles, request.part);
  return step === undefined ? openFeeds(request) : openTiledFeeds({ ...request, ...step });
}

/** Times all variants of all models interleaved, `repeats` times. */
async function timeInterleaved(
  models: readonly (readonly TimedVariant['variant'][])[],
  { warmup, repeats }: BenchParams,
  signal: AbortSignal,
): Promise<readonly (readonly TimedVariant[])[]> {
  const timed = models.map(variants => variants.map(variant => ({ variant, timings: [] as TimedVariant['timings'][number][] })));
  for (let round = -warmup; round < repeats; round++) {
    for (const { variant, timings } of timed.flat()) {
      signal.throwIfAborted();
      const timing = await variant.run();
      if (round >= 0) timings.push(timing);
    }
  }
  return timed;
}

/** Limit on profiled runs: a profile has an event per node and run, and ONNX Runtime stops after a million events. */
const MOST_PROFILED_RUNS = 20;

/** Uses a separate session, because profiling slows it down. Runs at the middle row count in one batch, or with the model's fixed batch. */
async function profileModel(
  path: string,
  { counts, batch, whole, image }: PartFeeds,
  { warmup, repeats, optimization, threads }: BenchParams,
  prefix: string,
): Promise<ModelProfile> {
  const before = Math.min(warmup, MOST_PROFILED_RUNS);
  const runs = Math.min(repeats, MOST_PROFILED_RUNS);
  const middle = counts?.[counts.length >> 1];
  const tensors = middle === undefined ? whole : image(middle.rows).slice(0, batch === 'free' ? middle.rows : batch);
  const session = await openSession(path, { optimization, threads, quantized: 'fused', profilePrefix: prefix });
  try {
    for (let run = 0; run < before + runs; run++) await session.run(tensors);
  } finally {
    await session.close();
  }
  return parseProfile(await readProfile(prefix), { warmup: before, runs });
}

/** ONNX Runtime appends the time to the given name. */
async function readProfile(prefix: string): Promise<string> {
  const at = prefix.lastIndexOf('/');
  const [folder, start] = [prefix.slice(0, at), prefix.slice(at + 1)];
  const found = (await readdir(folder)).filter(name => name.startsWith(`${start}_`) && name.endsWith('.json'));
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new StageError('no-profile', `ONNX Runtime wrote ${found.length} profiles, expected one`);
  return readFile(join(folder, only), 'utf8');
}

/** Other influences on latency: the clock frequency and other programs. */
function readConditions(): Conditions {
  return { processorMhz: Math.max(...cpus().map(({ speed }) => speed), 0), loadAverage: loadavg()[0] ?? 0 };
}

function describeWhere(params: BenchParams, { identity }: Runner): JsonObject {
  if (identity !== undefined) return { runner: 'external', label: params.external?.label ?? '', identity };
  const [processor] = cpus();
  const session = sessionManifest({ optimization: params.optimization, threads: params.threads });
  const simulate = simulateParams(params);
  return {
    runner: params.runner,
    ...withoutUndefined({ simulate }),
    processor: processor?.model.trim() ?? 'unknown',
    processors: cpus().length,
    system: `${platform()} ${arch()}`,
    node: process.versions.node,
    session,
  };
}
