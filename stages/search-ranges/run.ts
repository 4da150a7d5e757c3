/** Runs `search-ranges`: one kept part per block, then the outputs before and after. */

import { join } from 'node:path';
import { digestFile } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { fixed } from '../../src/base/text/fixed.js';
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { cutSearchBlocks } from '../../src/quant/range-search/search-blocks.js';
import { parseSearchedBlock, SEARCH_DOCUMENT, type SearchedBlock } from '../../src/quant/range-search/searched-block.js';
import { findSearchedTensors } from '../../src/quant/range-search/searched-tensors.js';
import { type GuardedStage, type GuardRequest, guardModels } from '../../src/quant/recovery/guard-work.js';
import { type DescribedPair, describePair, OUTPUTS_FILE, outputNamesOf } from '../../src/quant/recovery/model-pair.js';
import { isWorseOutput, listOutputs, type OutputSqnr, parseOutputSqnr } from '../../src/quant/recovery/output-errors.js';
import { describeGuard } from '../../src/quant/recovery/output-guard.js';
import { findSteps } from '../../src/quant/sensitivity/find-steps.js';
import { NOTHING_WIDER, parseWidenedTypes, type WidenedTypes } from '../../src/quant/widening/widened-types.js';
import { openSampleFiles } from '../../src/runtime/capture/sample-files.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { memoJson } from '../../src/stage/json-part.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { findInputPath, getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { blockPart, type SearchManifest } from './block-part.js';
import { guardPart } from './guard-part.js';
import { outputsPart } from './outputs-part.js';
import type { SearchRangesParams } from './params.js';
import { readQuantizer } from './read-quantizer.js';
import { reportSearch } from './report.js';

type Job = StageJob<SearchRangesParams>;

/** @throws QuantError `not-finite`, and as quantizeModel; OnnxError as quantizeModel; the errors of `openSampleFiles`; RuntimeError `model-load`, `model-run`. */
export async function runSearchRanges(job: Job): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const paths = { model: getInputPath(inputs, 'model'), sketches: getInputPath(inputs, 'sketches') };
  const types = inputs.overrides === undefined ? NOTHING_WIDER : parseWidenedTypes(await readInput(inputs, 'overrides', readJsonFile));
  const quantizer = await readQuantizer(paths, params.quantize as JsonObject);
  const { model: narrow, report } = quantizer.quantize(types);
  const models = findSteps(quantizer.float, narrow);
  const samples = await openSampleFiles(getInputPath(inputs, 'captured'), narrow, params, nameSample);
  const narrowPath = join(context.scratch, 'quantized.onnx');
  await writeModel(narrowPath, narrow);
  const pair = await describePair({ float: quantizer.float, quantized: narrow }, samples, {
    float: paths.model,
    model: narrowPath,
    scratch: context.scratch,
  });
  const { layers, rounds, weights } = params;
  const run: SearchManifest = {
    model: await digestFile(paths.model),
    sketches: await digestFile(paths.sketches),
    samples: samples.digest,
    arrays: samples.list.arrays,
    quantize: params.quantize as JsonObject,
    types,
    settings: { layers, rounds, weights },
    session: pair.manifest.session,
  };
  const blocks = cutSearchBlocks(models, layers);
  const { skipped } = findSearchedTensors({ models, blocks, report, weights });
  const found = await searchBlocks(job, run, { count: blocks.length, paths: { ...paths, ...pair.paths, model: paths.model } });
  const withBlocks = (blocks: readonly SearchedBlock[]): WidenedTypes => ({
    ...types,
    overrides: [...types.overrides, ...blocks.flatMap(block => block.overrides)],
  });
  // A change is a block with other ranges.
  const guard = await guardModels(guardedStage(job), {
    pair,
    samples: samples.list.files.length,
    changes: found.filter(({ overrides }) => overrides.length > 0).length,
    modelWith: kept => quantizer.quantize(withBlocks(found.slice(0, lengthWith(found, kept)))).model,
  });
  const kept = found.slice(0, lengthWith(found, guard?.kept));
  const overrides = withBlocks(kept);
  const { model: searched } = quantizer.quantize(overrides);
  const sqnr = { before: await compare(job, pair, narrow, narrowPath), after: await compareWritten(job, pair, searched) };
  const changed = kept.reduce((sum, block) => sum + block.overrides.length, 0);
  const tensors = found.reduce((sum, block) => sum + block.tensors, 0);
  context.log('info', `changed the ranges of ${changed} of ${tensors} tensors in ${blocks.length} blocks`);
  if (guard !== undefined) context.log(...describeGuard(guard, 'blocks'));
  for (const { name, sqnrDb } of listOutputs(sqnr.before, sqnr.after)) context.log(...describeOutput(name, sqnrDb));
  await writeJsonFile(getOutputPath(outputs, 'overrides'), overrides);
  await writeJsonFile(
    getOutputPath(outputs, 'report'),
    reportSearch({ samples: samples.list.files.length, blocks: found, kept: kept.length, guard, skipped, sqnr }),
  );
}

function guardedStage({ params, inputs, context }: Job): GuardedStage {
  const ports = { recipe: findInputPath(inputs, 'recipe'), config: findInputPath(inputs, 'config') };
  const measure = async (request: GuardRequest) => (await memoJson(context, guardPart, request)).json;
  return { params, ports, context, measure, document: SEARCH_DOCUMENT };
}

/** Number of blocks, the first ones, of which `changed` have other ranges. Default: all. */
function lengthWith(found: readonly SearchedBlock[], changed: number | undefined): number {
  let left = changed ?? found.length;
  const end = found.findIndex(({ overrides }) => overrides.length > 0 && left-- === 0);
  return end < 0 ? found.length : end;
}

interface BlocksRequest {
  readonly count: number;
  readonly paths: Readonly<Record<string, string>>;
}

async function searchBlocks({ context }: Job, run: SearchManifest, { count, paths }: BlocksRequest): Promise<readonly SearchedBlock[]> {
  const found: SearchedBlock[] = [];
  for (let block = 0; block < count; block++) {
    context.progress(block, count, 'blocks');
    context.signal.throwIfAborted();
    const before = found.map(({ overrides }) => overrides);
    const { json } = await memoJson(context, blockPart, { manifest: { run, block, before }, blobs: {}, unkeyed: paths });
    found.push(parseSearchedBlock(json));
  }
  context.progress(count, count, 'blocks');
  return found;
}

async function compareWritten(job: Job, pair: DescribedPair, model: Model): Promise<OutputSqnr> {
  const path = join(job.context.scratch, 'searched.onnx');
  await writeModel(path, model);
  return compare(job, pair, model, path);
}

async function compare(
  { context }: Job,
  { manifest, floatOutputs, paths }: DescribedPair,
  model: Model,
  path: string,
): Promise<OutputSqnr> {
  const names = { outputs: outputNamesOf(model), floatOutputs };
  const { files } = await context.memo(outputsPart, {
    manifest: { ...manifest, quantized: digestModelContent(model), ...names },
    blobs: {},
    unkeyed: { ...paths, model: path },
  });
  return parseOutputSqnr(await readJsonFile(getDefined(files[OUTPUTS_FILE], OUTPUTS_FILE)), SEARCH_DOCUMENT);
}

function describeOutput(name: string, { before, after }: { before: number | null; after: number | null }): ['info' | 'warning', string] {
  const text = (db: number | null): string => (db === null ? 'equal' : `${fixed(db, 1)} dB`);
  const isWorse = isWorseOutput(before, after);
  return [isWorse ? 'warning' : 'info', `output "${name}": SQNR ${text(before)} before, ${text(after)} after`];
}
