/** Runs `round-weights`: one kept part per layer, then the outputs before and after. */
import { digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import {
  type ConstantChange,
  changeConstants,
  type GuardedStage,
  type GuardRequest,
  guardConstants,
} from '../../src/quant/recovery/guard-work.js';
import { assertLayers, type LayerPairs } from '../../src/quant/recovery/layer-pairs.js';
import { type DescribedPair, describePair, measureChange, OUTPUTS_FILE, type OutputsRequest } from '../../src/quant/recovery/model-pair.js';
import { type OutputSqnr, parseOutputSqnr } from '../../src/quant/recovery/output-errors.js';
import type { GuardReport } from '../../src/quant/recovery/output-guard.js';
import { summarizeRecovery } from '../../src/quant/recovery/recovered.js';
import { type LayerRounding, parseRounding, ROUNDING_DOCUMENT } from '../../src/quant/recovery/rounding/layer-rounding.js';
import { writeWeight } from '../../src/quant/recovery/rounding/layer-weight.js';
import { pairLayersWithWeight } from '../../src/quant/recovery/rounding/round-weights.js';
import { openSampleFiles } from '../../src/runtime/capture/sample-files.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { memoJson } from '../../src/stage/json-part.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { findInputPath, getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { guardPart } from './guard-part.js';
import { INTEGERS_FILE, type LayerManifest, layerPart, ROUNDING_FILE, readIntegers } from './layer-part.js';
import { outputsPart } from './outputs-part.js';
import type { RoundWeightsParams } from './params.js';
import { reportRoundings } from './report.js';

type Job = StageJob<RoundWeightsParams>;

/** @throws QuantError `nothing-to-round`, `layers-differ`, `not-finite`; the errors of `openSampleFiles`; RuntimeError `model-load`, `model-run`. */
export async function runRoundWeights(job: Job): Promise<void> {
  const { params, outputs, context } = job;
  const { pairs, pair, samples } = await openPair(job);
  const { method, damping } = params;
  const run = {
    ...pair.manifest,
    layers: digestJson(pairs.layers.map(({ name }) => name)),
    settings: { method, damping, iterations: method === 'adaround' ? params.iterations : 0 },
  };
  const roundings: LayerRounding[] = [];
  let guard: GuardReport | undefined;
  const compare = async (request: OutputsRequest): Promise<OutputSqnr> => {
    const { files } = await context.memo(outputsPart, request);
    return parseOutputSqnr(await readJsonFile(getDefined(files[OUTPUTS_FILE], OUTPUTS_FILE)), ROUNDING_DOCUMENT);
  };
  const measured = await measureChange(pair, getOutputPath(outputs, 'model'), compare, async () => {
    const rounded = await roundLayers(context, run, pairs, pair);
    roundings.push(...rounded.map(({ rounding }) => rounding));
    const changes = rounded.flatMap(({ rounding: { result }, integers }, index) =>
      result === 'rounded' ? [{ ...getDefined(pairs.layers[index], 'layer').target, integers }] : [],
    );
    const changed: ConstantChange[] = [];
    for (const change of changes) {
      const integers = await readIntegers(change.integers);
      changed.push(...changeConstants(pair.quantized.graph, [change], target => writeWeight(pair.quantized.graph, target, integers)));
    }
    guard = await guardConstants(guardedStage(job), { pair, samples, changed });
  });
  const found = { layers: roundings, skipped: pairs.skipped, samples, outputs: measured, guard };
  for (const [level, line] of summarizeRecovery(found, { done: 'rounded the weights', result: 'rounded', change: 'rounding' }))
    context.log(level, line);
  await writeJsonFile(getOutputPath(outputs, 'report'), reportRoundings(found));
}

function guardedStage({ params, inputs, context }: Job): GuardedStage {
  const ports = { recipe: findInputPath(inputs, 'recipe'), config: findInputPath(inputs, 'config') };
  const measure = async (request: GuardRequest) => (await memoJson(context, guardPart, request)).json;
  return { params, ports, context, measure, document: ROUNDING_DOCUMENT };
}

/** The float model is not kept. */
async function openPair({ params, inputs, context }: Job) {
  const models = { float: await readInput(inputs, 'float', readModel), quantized: await readInput(inputs, 'model', readModel) };
  const pairs = pairLayersWithWeight(models.float, models.quantized);
  assertLayers(pairs, 'nothing-to-round', 'whose weights can be rounded');
  const samples = await openSampleFiles(getInputPath(inputs, 'captured'), models.quantized, params, nameSample);
  const roles = { float: getInputPath(inputs, 'float'), model: getInputPath(inputs, 'model'), scratch: context.scratch };
  return { pairs, pair: await describePair(models, samples, roles), samples: samples.list.files.length };
}

interface Rounded {
  readonly rounding: LayerRounding;
  /** Path of the integers that are kept. */
  readonly integers: string;
}

async function roundLayers(
  context: Job['context'],
  run: LayerManifest['run'],
  { layers }: LayerPairs<unknown>,
  { paths }: DescribedPair,
): Promise<readonly Rounded[]> {
  const rounded: Rounded[] = [];
  for (const layer of layers.keys()) {
    context.progress(layer, layers.length, 'layers');
    context.signal.throwIfAborted();
    const blobs = Object.fromEntries(rounded.map(({ integers }, index) => [String(index), integers]));
    const { files } = await context.memo(layerPart, { manifest: { run, layer }, blobs, unkeyed: paths });
    rounded.push({
      rounding: parseRounding(await readJsonFile(getDefined(files[ROUNDING_FILE], ROUNDING_FILE))),
      integers: getDefined(files[INTEGERS_FILE], INTEGERS_FILE),
    });
  }
  context.progress(layers.length, layers.length, 'layers');
  return rounded;
}
