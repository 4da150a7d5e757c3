/** Runs `sensitivity`: the shares of all layers at once, then the exact cost of the largest, one kept part per layer. */

import { digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import { fixed } from '../../src/base/text/fixed.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { QuantError } from '../../src/quant/integers/quant-error.js';
import { describePair, type PairPaths } from '../../src/quant/recovery/model-pair.js';
import { parseStepErrors } from '../../src/quant/sensitivity/error-flow.js';
import { type LayerShares, shareErrors } from '../../src/quant/sensitivity/error-shares.js';
import { findSteps, type SteppedModels } from '../../src/quant/sensitivity/find-steps.js';
import { findQuantizedLayers } from '../../src/quant/sensitivity/quantized-layers.js';
import { type OutputError, parseOutputErrors } from '../../src/quant/sensitivity/report-schema.js';
import { reportSensitivity } from '../../src/quant/sensitivity/sensitivity-report.js';
import { openSampleFiles } from '../../src/runtime/capture/sample-files.js';
import type { Context } from '../../src/stage/context.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { takeInOrder } from '../../src/stage/in-order.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { memoJson } from '../../src/stage/json-part.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { errorsPart } from './errors-part.js';
import { layerPart } from './layer-part.js';
import type { SensitivityManifest } from './manifest.js';
import type { SensitivityParams } from './params.js';

interface Run {
  readonly manifest: SensitivityManifest;
  readonly paths: PairPaths;
}

/** @throws QuantError `nothing-quantized`, `layers-differ`, `not-finite`; the errors of `openSampleFiles`; RuntimeError `model-load`, `model-run`. */
export async function runSensitivity({ params, inputs, outputs, context }: StageJob<SensitivityParams>): Promise<void> {
  const models = findSteps(await readInput(inputs, 'float', readModel), await readInput(inputs, 'model', readModel));
  const samples = await openSampleFiles(getInputPath(inputs, 'captured'), models.quantized, params, nameSample);
  const roles = { float: getInputPath(inputs, 'float'), model: getInputPath(inputs, 'model'), scratch: context.scratch };
  const pair = await describePair(models, samples, roles);
  const run = { manifest: { ...pair.manifest, steps: digestSteps(models) }, paths: pair.paths };
  const shares = await measureShares(context, models, run);
  const largest = [...shares].sort((a, b) => b.cost - a.cost).slice(0, params.exact);
  const baseline = await measureLayer(context, run, []);
  const alone = new Map<string, readonly OutputError[]>();
  context.progress(0, largest.length, 'layers');
  await takeInOrder(largest, {
    atOnce: context.partsAtOnce,
    begin: async ({ layer }) => {
      context.signal.throwIfAborted();
      return measureLayer(context, run, layer.names);
    },
    take: (errors, { layer }, index) => {
      alone.set(getDefined(layer.names[0], 'name of a layer'), errors);
      context.progress(index + 1, largest.length, 'layers');
    },
  });
  const report = reportSensitivity(samples.list.files.length, baseline, shares, alone);
  for (const { name, sqnrDb } of baseline)
    context.log('info', `output "${name}": SQNR ${sqnrDb === 'equal' ? sqnrDb : `${fixed(sqnrDb, 1)} dB`}`);
  await writeJsonFile(getOutputPath(outputs, 'report'), report);
}

/** Digest of the names of the values where steps end, and of the outputs. */
function digestSteps({ float, quantized, steps }: SteppedModels): string {
  const names = [...steps.values()].map(({ value, seen }) => [value.name, quantized.graph.values.get(seen)?.name ?? '']);
  return digestJson({ names, outputs: float.graph.outputs.map(id => float.graph.values.get(id)?.name ?? '') });
}

/** Of the layers that are quantized, or have an own error by their weights. */
async function measureShares(context: Context, models: SteppedModels, { manifest, paths }: Run): Promise<readonly LayerShares[]> {
  const layers = findQuantizedLayers(models);
  const { json } = await memoJson(context, errorsPart, { manifest, blobs: {}, unkeyed: paths });
  const errors = parseStepErrors(models, json);
  const shares = shareErrors(models, layers, errors).filter(
    ({ layer, own }) => own > 0 || layer.values.some(id => models.steps.get(id)?.quantizer !== undefined),
  );
  if (shares.length > 0) return shares;
  throw new QuantError('nothing-quantized', 'no value of the model is quantized', {
    help: 'connect the output of `quantize` to `model`, and the float model that it quantized to `float`',
  });
}

async function measureLayer(context: Context, { manifest, paths }: Run, values: readonly string[]): Promise<readonly OutputError[]> {
  const { json } = await memoJson(context, layerPart, { manifest: { run: manifest, values }, blobs: {}, unkeyed: paths });
  return parseOutputErrors(json);
}
