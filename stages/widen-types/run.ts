/** Runs `widen-types`: the errors of all tensors once, then a search in which every trial is a kept part. */

import { join } from 'node:path';
import { digestFile } from '../../src/base/digest.js';
import type { JsonObject } from '../../src/base/json.js';
import { makeNameMatcher } from '../../src/onnx/selection/name-pattern.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { parseStepErrors } from '../../src/quant/sensitivity/error-flow.js';
import { findSteps } from '../../src/quant/sensitivity/find-steps.js';
import { schemeOf } from '../../src/quant/settings/scheme-of.js';
import { findBestWithin } from '../../src/quant/widening/search-budget.js';
import { costOf, findCheapestSet } from '../../src/quant/widening/search-set.js';
import { findWideBlocks, type WideBlock, type WideBlocks, type WideCost, widenedTypesOf } from '../../src/quant/widening/wide-blocks.js';
import type { WidenedTypes } from '../../src/quant/widening/widened-types.js';
import { CAPTURE_SESSION } from '../../src/runtime/capture/capture.js';
import { describeSampleList, openSampleFiles } from '../../src/runtime/capture/sample-files.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile, writeMetricsFile } from '../../src/stage/json-file.js';
import { memoJson } from '../../src/stage/json-part.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import { checkAdmitted } from './admit.js';
import { errorsPart } from './errors-part.js';
import { describeFigures, meetsConstraint } from './judge.js';
import type { WidenTypesParams } from './params.js';
import { readQuantizer } from './quantize-trial.js';
import { reportWidening } from './report.js';
import { openTrials, type Trials } from './trials.js';

type Job = StageJob<WidenTypesParams>;

/**
 * @throws StageError `constraint-out-of-reach`, `type-not-admitted`, `baseline-metrics`, `metric-missing`, `unknown-output`, `nothing-to-widen`; QuantError and
 *   OnnxError as quantizeModel; the errors of `openSampleFiles`; DetectionError for data sets and detectors; RuntimeError `model-load`, `model-run`.
 */
export async function runWidenTypes(job: Job): Promise<void> {
  const { params, outputs, context } = job;
  const cost: WideCost = params.cost ?? (params.to === 'int16' ? 'bytes' : 'macs');
  const found = await findBlocks(job, cost);
  const range = schemeOf(params.quantize).range.kind === 'power-of-two' ? 'of-scheme' : 'min-max';
  const typesOf = (set: readonly WideBlock[]): WidenedTypes => widenedTypesOf(set, params.to, range);
  const trials = await openTrials(job, found.run, typesOf);
  const set =
    params.constraint.share === undefined
      ? await search(job, found, trials)
      : await searchWithin(job, found, params.constraint.share, trials);
  const report = await reportWidening(
    { ...found, set, to: params.to, cost, members: params.constraint.share === undefined ? 'tried' : 'listed' },
    trials,
  );
  const { tensors, shares } = report.found;
  context.log(
    'info',
    `${tensors} of ${found.blocks.length} tensors in ${params.to}, ${(100 * shares.cost).toFixed(1)} % of the ${cost}: ${describeFigures(report.found.figures)}; without: ${describeFigures(report.narrow)}; ${report.trials} sets tried`,
  );
  await writeJsonFile(getOutputPath(outputs, 'overrides'), typesOf(set));
  await writeJsonFile(getOutputPath(outputs, 'report'), report);
  await writeMetricsFile(getOutputPath(outputs, 'metrics'), { tensors, shares, figures: report.found.figures });
}

interface Found extends WideBlocks {
  /** What the trials share. */
  readonly run: Parameters<typeof openTrials>[1];
  /** Number of tensors with a range of their own, whether they may become wider or not. */
  readonly groups: number;
}

async function findBlocks(job: Job, cost: WideCost): Promise<Found> {
  const { params, inputs, context } = job;
  const profile = inputs.profile === undefined ? undefined : await readInput(inputs, 'profile', readJsonFile);
  const paths = { model: getInputPath(inputs, 'model'), sketches: getInputPath(inputs, 'sketches') };
  const quantizer = await readQuantizer(paths, params.quantize);
  const { model, report } = quantizer.quantize();
  const models = findSteps(quantizer.float, model);
  const samples = await openSampleFiles(getInputPath(inputs, 'captured'), models.quantized, params, nameSample);
  await writeJsonFile(join(context.scratch, 'samples.json'), describeSampleList(samples.list));
  await writeModel(join(context.scratch, 'narrow.onnx'), model);
  const base = {
    model: await digestFile(paths.model),
    sketches: await digestFile(paths.sketches),
    quantize: params.quantize as JsonObject,
    session: sessionManifest(CAPTURE_SESSION),
  };
  const run = { ...base, samples: samples.digest, arrays: samples.list.arrays };
  const unkeyed = {
    ...paths,
    scratch: context.scratch,
    samples: join(context.scratch, 'samples.json'),
    captured: samples.list.folder,
    narrow: join(context.scratch, 'narrow.onnx'),
  };
  const { json } = await memoJson(context, errorsPart, { manifest: run, blobs: {}, unkeyed });
  const errors = parseStepErrors(models, json);
  const all = findWideBlocks({ models, report, errors, to: params.to, cost });
  const matchers = params.tensors?.map(makeNameMatcher);
  const isOpen = ({ tensors }: WideBlock): boolean => matchers?.some(matches => tensors.some(matches)) ?? true;
  const blocks = all.blocks.filter(isOpen);
  if (blocks.length === 0 && all.blocks.length > 0 && params.tensors !== undefined) {
    throw new StageError('nothing-to-widen', `no tensor that can become wider has a name like ${params.tensors.join(', ')}`, {
      help: `such tensors are ${listFirst(all.blocks.map(({ name }) => name))}; the report of \`quantize\` lists all of them`,
    });
  }
  checkAdmitted(
    params,
    blocks.map(({ dtype }) => dtype),
    profile,
  );
  const correction = params.biases === 'corrected' ? { biases: { samples: run.samples, arrays: run.arrays } } : {};
  return {
    ...all,
    blocks,
    orders: all.orders.map(order => order.filter(isOpen)),
    run: { ...run, ...correction },
    groups: all.blocks.length,
  };
}

function percent(share: number): string {
  return `${(100 * share).toPrecision(2)} %`;
}

function listFirst(names: readonly string[]): string {
  return `${names.slice(0, 8).join(', ')}${names.length > 8 ? ', …' : ''}`;
}

async function search({ params: { constraint, to } }: Job, { blocks, orders }: WideBlocks, trials: Trials): Promise<readonly WideBlock[]> {
  const holds = async (set: readonly WideBlock[]): Promise<boolean> => meetsConstraint(constraint, await trials.measure(set));
  const set = await findCheapestSet({ blocks, orders, holds });
  if (set !== undefined) return set;
  if (blocks.length === 0) {
    throw new StageError(
      'nothing-to-widen',
      `the constraint is not met, and no tensor can become wider: ${describeFigures(await trials.measure([]))}`,
      {
        help: 'every activation has 16 bits or is in float: choose scales per channel for the weights, or a lower target',
      },
    );
  }
  throw new StageError(
    'constraint-out-of-reach',
    `the constraint is not met with all ${blocks.length} tensors in ${to}: ${describeFigures(await trials.measure(blocks))}`,
    {
      details: { wide: { ...(await trials.measure(blocks)) }, narrow: { ...(await trials.measure([])) } },
      help: 'wider activations do not help weights: choose another preset, scales per channel, or a lower target',
    },
  );
}

async function searchWithin(
  { context }: Job,
  { blocks, orders, total, groups }: Found,
  share: NonNullable<WidenTypesParams['constraint']['share']>,
  trials: Trials,
): Promise<readonly WideBlock[]> {
  const { cost = 1, tensors = 1 } = typeof share === 'number' ? { cost: share } : share;
  const fits = (set: readonly WideBlock[]): boolean => costOf(set) <= cost * total && set.length <= tensors * groups;
  if (blocks.length === 0)
    throw new StageError('nothing-to-widen', 'no tensor can become wider', { help: 'every activation has 16 bits or is in float' });
  if (!blocks.some(block => fits([block]))) {
    const least = Math.min(...blocks.map(block => costOf([block])));
    context.log(
      'warning',
      `nothing becomes wider, because no tensor fits into the share: one of ${groups} is ${percent(1 / groups)} of their number, and the cheapest ${percent(least / total)} of the cost`,
    );
  }
  return findBestWithin({ blocks, orders, fits, errorOf: trials.errorOf });
}
