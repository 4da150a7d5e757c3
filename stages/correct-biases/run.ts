/** Runs `correct-biases`: one kept part per layer, then the outputs before and after. */

import { join } from 'node:path';
import { digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { pairLayersWithBias } from '../../src/quant/recovery/correct-biases.js';
import { changeConstants, type GuardedStage, type GuardRequest, guardConstants } from '../../src/quant/recovery/guard-work.js';
import { writeBias } from '../../src/quant/recovery/layer-bias.js';
import { CORRECTION_DOCUMENT, type LayerCorrection, parseCorrections } from '../../src/quant/recovery/layer-correction.js';
import { assertLayers, haveNoPartners, type LayerPairs } from '../../src/quant/recovery/layer-pairs.js';
import { type DescribedPair, describePair, measureChange, OUTPUTS_FILE, type OutputsRequest } from '../../src/quant/recovery/model-pair.js';
import { type OutputSqnr, parseOutputSqnr } from '../../src/quant/recovery/output-errors.js';
import type { GuardReport } from '../../src/quant/recovery/output-guard.js';
import { summarizeRecovery } from '../../src/quant/recovery/recovered.js';
import { openSampleFiles } from '../../src/runtime/capture/sample-files.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { memoJson } from '../../src/stage/json-part.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { findInputPath, getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { guardPart } from './guard-part.js';
import { layerPart } from './layer-part.js';
import { outputsPart } from './outputs-part.js';
import type { CorrectBiasesParams } from './params.js';
import { reportCorrections } from './report.js';

type Job = StageJob<CorrectBiasesParams>;

/** @throws QuantError `nothing-to-correct`, `layers-differ`; the errors of `openSampleFiles`; RuntimeError `model-load`, `model-run`. */
export async function runCorrectBiases(job: Job): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const models = { float: await readInput(inputs, 'float', readModel), quantized: await readInput(inputs, 'model', readModel) };
  const pairs = pairLayersWithBias(models.float, models.quantized);
  if (haveNoPartners(pairs)) assertLayers(pairs, 'nothing-to-correct', 'whose bias can be corrected');
  const samples = await openSampleFiles(getInputPath(inputs, 'captured'), models.quantized, params, nameSample);
  const roles = { float: getInputPath(inputs, 'float'), model: getInputPath(inputs, 'model'), scratch: context.scratch };
  const pair = await describePair(models, samples, roles);
  const corrections: LayerCorrection[] = [];
  const compare = async (request: OutputsRequest): Promise<OutputSqnr> => {
    const { files } = await context.memo(outputsPart, request);
    return parseOutputSqnr(await readJsonFile(getDefined(files[OUTPUTS_FILE], OUTPUTS_FILE)), CORRECTION_DOCUMENT);
  };
  const count = samples.list.files.length;
  let guard: GuardReport | undefined;
  const measured = await measureChange(pair, getOutputPath(outputs, 'model'), compare, async () => {
    corrections.push(...(await correctLayers(context, pairs, pair)));
    const changes = corrections.flatMap(({ result, elements }, index) =>
      result === 'corrected' ? [{ ...getDefined(pairs.layers[index], 'layer').target, elements }] : [],
    );
    const { graph } = pair.quantized;
    const changed = changeConstants(graph, changes, change => writeBias(graph, change, change.elements));
    guard = await guardConstants(guardedStage(job), { pair, samples: count, changed });
  });
  const found = { layers: corrections, skipped: pairs.skipped, samples: count, outputs: measured, guard };
  const lines = summarizeRecovery(found, { done: 'corrected the biases', result: 'corrected', change: 'correction' });
  if (pairs.layers.length === 0) context.log('warning', describeUncorrected(pairs));
  for (const [level, line] of lines) context.log(level, line);
  await writeJsonFile(getOutputPath(outputs, 'report'), reportCorrections(found));
}

function guardedStage({ params, inputs, context }: Job): GuardedStage {
  const ports = { recipe: findInputPath(inputs, 'recipe'), config: findInputPath(inputs, 'config') };
  const measure = async (request: GuardRequest) => (await memoJson(context, guardPart, request)).json;
  return { params, ports, context, measure, document: CORRECTION_DOCUMENT };
}

/** A network without biases is no error: the pipeline builds, and may lose the stage. */
function describeUncorrected({ skipped: [first, ...others] }: LayerPairs<unknown>): string {
  const why = first === undefined ? '' : ` (${first.opType} "${first.node}": ${first.reason}${others.length === 0 ? '' : ', …'})`;
  return `no layer has a bias that can be corrected${why}: the model stays as it is, and the stage can be removed`;
}

async function correctLayers(
  context: Job['context'],
  { layers }: LayerPairs<unknown>,
  { manifest, paths }: DescribedPair,
): Promise<readonly LayerCorrection[]> {
  const run = { ...manifest, layers: digestJson(layers.map(({ name }) => name)) };
  const corrections: LayerCorrection[] = [];
  const earlier = join(context.scratch, 'earlier.json');
  for (const layer of layers.keys()) {
    context.progress(layer, layers.length, 'layers');
    context.signal.throwIfAborted();
    await writeJsonFile(earlier, corrections);
    const request = { manifest: { run, layer, earlier: digestJson(corrections) }, blobs: {}, unkeyed: { ...paths, earlier } };
    corrections.push(...parseCorrections((await memoJson(context, layerPart, request)).json));
  }
  context.progress(layers.length, layers.length, 'layers');
  return corrections;
}
