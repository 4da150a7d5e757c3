/** Runs `sensitivity`: the shares of all layers at once, then the exact cost of the largest, one kept part per layer. */
import { join } from 'node:path';
import { digestJson } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { QuantError } from '../../src/quant/integers/quant-error.js';
import { parseStepErrors } from '../../src/quant/sensitivity/error-flow.js';
import { type LayerShares, shareErrors } from '../../src/quant/sensitivity/error-shares.js';
import { findSteps, type SteppedModels } from '../../src/quant/sensitivity/find-steps.js';
import { findQuantizedLayers } from '../../src/quant/sensitivity/quantized-layers.js';
import { type OutputError, parseOutputErrors, reportSensitivity } from '../../src/quant/sensitivity/sensitivity-report.js';
import { CAPTURE_SESSION } from '../../src/runtime/capture/capture.js';
import { openSampleFiles, type SampleFiles } from '../../src/runtime/capture/sample-files.js';
import { sessionManifest } from '../../src/runtime/session/session.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { nameSample } from '../../src/stage/name-sample.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { ERRORS_FILE, errorsPart } from './errors-part.js';
import { layerPart, OUTPUTS_FILE } from './layer-part.js';
import type { SensitivityManifest } from './manifest.js';
import type { SensitivityParams } from './params.js';

type Job = StageJob<SensitivityParams>;

/** @throws QuantError `nothing-quantized`, `layers-differ`, `not-finite`; the errors of `openSampleFiles`; RuntimeError `model-load`, `model-run`. */
export async function runSensitivity(job: Job): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const models = findSteps(await readInput(inputs, 'float', readModel), await readInput(inputs, 'model', readModel));
  const samples = await openSampleFiles(getInputPath(inputs, 'captured'), models.quantized, params, nameSample);
  await writeJsonFile(join(context.scratch, 'samples.json'), samples.list);
  const manifest = describeRun(models, samples);
  const shares = await measureShares(job, models, manifest);
  const largest = [...shares].sort((a, b) => b.cost - a.cost).slice(0, params.exact);
  const baseline = await measureLayer(job, manifest, []);
  const alone = new Map<string, readonly OutputError[]>();
  for (const [index, { layer }] of largest.entries()) {
    context.progress(index, largest.length, 'layers');
    context.signal.throwIfAborted();
    alone.set(getDefined(layer.names[0], 'name of a layer'), await measureLayer(job, manifest, layer.names));
  }
  context.progress(largest.length, largest.length, 'layers');
  const report = reportSensitivity(samples.list.files.length, baseline, shares, alone);
  for (const { name, sqnrDb } of baseline)
    context.log('info', `output "${name}": SQNR ${sqnrDb === 'equal' ? sqnrDb : `${sqnrDb.toFixed(1)} dB`}`);
  await writeJsonFile(getOutputPath(outputs, 'report'), report);
}

function describeRun({ float, quantized, steps }: SteppedModels, { digest, list }: SampleFiles): SensitivityManifest {
  const names = [...steps.values()].map(({ value, seen }) => [value.name, quantized.graph.values.get(seen)?.name ?? '']);
  return {
    float: digestModelContent(float),
    quantized: digestModelContent(quantized),
    steps: digestJson({ names, outputs: float.graph.outputs.map(id => float.graph.values.get(id)?.name ?? '') }),
    samples: digest,
    arrays: list.arrays,
    session: sessionManifest(CAPTURE_SESSION),
  };
}

function unkeyedOf({ inputs, context }: Job): Readonly<Record<string, string>> {
  return {
    float: getInputPath(inputs, 'float'),
    model: getInputPath(inputs, 'model'),
    samples: join(context.scratch, 'samples.json'),
    scratch: context.scratch,
  };
}

/** Of the layers that are quantized, or have an own error by their weights. */
async function measureShares(job: Job, models: SteppedModels, manifest: SensitivityManifest): Promise<readonly LayerShares[]> {
  const layers = findQuantizedLayers(models);
  const { files } = await job.context.memo(errorsPart, { manifest, blobs: {}, unkeyed: unkeyedOf(job) });
  const errors = parseStepErrors(models, await readJsonFile(getDefined(files[ERRORS_FILE], ERRORS_FILE)));
  const shares = shareErrors(models, layers, errors).filter(
    ({ layer, own }) => own > 0 || layer.values.some(id => models.steps.get(id)?.quantizer !== undefined),
  );
  if (shares.length > 0) return shares;
  throw new QuantError('nothing-quantized', 'no value of the model is quantized', {
    help: 'connect the output of `quantize` to `model`, and the float model that it quantized to `float`',
  });
}

async function measureLayer(job: Job, run: SensitivityManifest, values: readonly string[]): Promise<readonly OutputError[]> {
  const { files } = await job.context.memo(layerPart, { manifest: { run, values }, blobs: {}, unkeyed: unkeyedOf(job) });
  return parseOutputErrors(await readJsonFile(getDefined(files[OUTPUTS_FILE], OUTPUTS_FILE)));
}
