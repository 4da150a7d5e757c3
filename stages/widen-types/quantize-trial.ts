/** Makes the model of a trial: quantized, with corrected biases where they are wanted. Model and sketches are read once per run. */
import { getDefined } from '../../src/base/invariant.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { parseModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { openQuantizer, type Quantizer } from '../../src/quant/open-quantizer.js';
import { openBiasCorrector, pairLayersWithBias } from '../../src/quant/recovery/correct-biases.js';
import { makeValuesFolder } from '../../src/quant/recovery/model-pair.js';
import type { QuantizeParams } from '../../src/quant/settings/quantize-params.js';
import type { WidenedTypes } from '../../src/quant/widening/widened-types.js';
import { feedsOf, openSampleList } from '../../src/runtime/capture/sample-files.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { getShiftBounds } from '../../src/target/profile/shift-bounds.js';
import type { TrialBase } from './manifest.js';

export async function readQuantizer(
  { model, sketches }: Readonly<Record<'model' | 'sketches', string>>,
  params: QuantizeParams,
): Promise<Quantizer> {
  return openQuantizer({
    float: await readModel(model),
    sketches: parseModelSketches(await readJsonFile(sketches)),
    params,
    limits: getShiftBounds(),
  });
}

export interface TrialRequest {
  readonly quantizer: Quantizer;
  readonly types: WidenedTypes;
  readonly run: TrialBase;
  /** With roles `samples` and `captured` where biases are corrected. */
  readonly unkeyed: Readonly<Record<string, string>>;
  readonly checkAbort: () => void;
}

/** @throws QuantError and OnnxError as quantizeModel; RuntimeError `model-run`. */
export async function makeTrialModel({ quantizer, types, run, unkeyed, checkAbort }: TrialRequest): Promise<Model> {
  const quantized = quantizer.widen(types);
  const { layers } = run.biases === undefined ? { layers: [] } : pairLayersWithBias(quantizer.float, quantized);
  if (layers.length === 0) return quantized;
  const list = await openSampleList(getDefined(unkeyed.samples, 'samples'), getDefined(unkeyed.captured, 'captured'));
  const samples = { float: feedsOf(quantizer.float, list), quantized: feedsOf(quantized, list) };
  const { folder, close } = await makeValuesFolder();
  try {
    const corrector = await openBiasCorrector({ float: quantizer.float, quantized, layers, samples, folder });
    for (const _ of layers) {
      checkAbort();
      await corrector.correct();
    }
  } finally {
    await close();
  }
  return quantized;
}
