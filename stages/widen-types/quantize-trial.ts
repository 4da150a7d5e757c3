/** The quantized model of one trial. Model and sketches are read once per run. */
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import { cloneModel } from '../../src/onnx/ir/clone.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { parseModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { QuantError } from '../../src/quant/integers/quant-error.js';
import { optionsOf } from '../../src/quant/options-of.js';
import { quantizeModel } from '../../src/quant/quantize-model.js';
import type { QuantizationReport } from '../../src/quant/report/report-entries.js';
import type { QuantizeParams } from '../../src/quant/settings/quantize-params.js';
import { NOTHING_WIDER, type WidenedTypes } from '../../src/quant/widening/widened-types.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { getShiftBounds } from '../../src/target/profile/shift-bounds.js';

export interface Quantizer {
  readonly float: Model;
  /** As the stage `quantize` without wider types. @throws QuantError and OnnxError as quantizeModel. */
  quantize(): { readonly model: Model; readonly report: QuantizationReport };
  /** As the stage `quantize` with these types on its port `overrides`; a copy of the float model if they leave no integers. */
  widen(types: WidenedTypes): Model;
}

export async function openQuantizer(paths: Readonly<Record<'model' | 'sketches', string>>, params: QuantizeParams): Promise<Quantizer> {
  const float = await readModel(paths.model);
  const digest = digestModelContent(float);
  const sketches = parseModelSketches(await readJsonFile(paths.sketches));
  const quantize = (types: WidenedTypes) => {
    const model = cloneModel(float);
    return { model, report: quantizeModel(model, digest, sketches, optionsOf(params, types, getShiftBounds())) };
  };
  return {
    float,
    quantize: () => quantize(NOTHING_WIDER),
    widen(types) {
      try {
        return quantize(types).model;
      } catch (error) {
        if (error instanceof QuantError && error.code === 'nothing-to-quantize') return cloneModel(float);
        throw error;
      }
    },
  };
}
