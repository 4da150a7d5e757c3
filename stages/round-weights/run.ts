/** Runs `round-weights`: one kept part per layer, then the outputs before and after. */
import { digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { assertLayers, type LayerPairs } from '../../src/quant/recovery/layer-pairs.js';
import { type DescribedPair, describePair, measureChange, OUTPUTS_FILE, type OutputsRequest } from '../../src/quant/recovery/model-pair.js';
import { type OutputSqnr, parseOutputSqnr } from '../../src/quant/recovery/output-errors.js';
import { summarizeRecovery } from '../../src/quant/recovery/recovered.js';
import { type LayerRounding, parseRounding, ROUNDING_DOCUMENT } from '../../src/quant/recovery/rounding/layer-rounding.js';
import { writeWeight } from '../../src/quant/recovery/rounding/layer-weight.js';
import { pairLayersWithWeight } from '../../src/quant/recovery/rounding/round-weights.js';
import { openSampleFiles } from '../../src/runtime/capture/sample-files.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
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
  const compare = async (request: OutputsRequest): Promise<OutputSqnr> => {
    const { files } = await context.memo(outputsPart, request);
    return parseOutputSqnr(await readJsonFile(getDefined(files[OUTPUTS_FILE], OUTPUTS_FILE)), ROUNDING_DOCUMENT);
  };
  const measured = await measureChange(pair, getOutputPath(outputs, 'model'), compare, async () => {
    for (const [index, { rounding, integers }] of (await roundLayers(context, run, pairs, pair)).entries()) {
      writeWeight(pair.quantized.graph, getDefined(pairs.layers[index], 'layer').target, await readIntegers(integers));
      roundings.push(rounding);
    }
  });
  const found = { layers: roundings, skipped: pairs.skipped, samples, outputs: measured };
  for (const [level, line] of summarizeRecovery(found, { done: 'rounded the weights', result: 'rounded', change: 'rounding' }))
    context.log(level, line);
  await writeJsonFile(getOutputPath(outputs, 'report'), reportRoundings(found));
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
