/** Quantizes one float model again and again, as the stage `quantize` would with other overrides. */
import { digestModelContent } from '../onnx/analysis/content-digest.js';
import { cloneModel } from '../onnx/ir/clone.js';
import type { Model } from '../onnx/ir/model.js';
import type { ModelSketches } from './calibration/model-sketches.js';
import { QuantError } from './integers/quant-error.js';
import { optionsOf } from './options-of.js';
import type { PositionLimits } from './positions/problem/position-limits.js';
import { quantizeModel } from './quantize-model.js';
import type { QuantizationReport } from './report/report-entries.js';
import type { QuantizeParams } from './settings/quantize-params.js';
import { NOTHING_WIDER, type WidenedTypes } from './widening/widened-types.js';

export interface Quantizer {
  readonly float: Model;
  /** As the stage `quantize` with these overrides on its port, by default none. @throws QuantError and OnnxError as quantizeModel. */
  quantize(types?: WidenedTypes): { readonly model: Model; readonly report: QuantizationReport };
  /** The same; a copy of the float model if the types leave no integers. */
  widen(types: WidenedTypes): Model;
}

export interface QuantizerRequest {
  readonly float: Model;
  readonly sketches: ModelSketches;
  readonly params: QuantizeParams;
  /** Bounds for `refine`. */
  readonly limits: PositionLimits | undefined;
}

export function openQuantizer({ float, sketches, params, limits }: QuantizerRequest): Quantizer {
  const digest = digestModelContent(float);
  const quantize = (types: WidenedTypes = NOTHING_WIDER) => {
    const model = cloneModel(float);
    return { model, report: quantizeModel(model, digest, sketches, optionsOf(params, types, limits)) };
  };
  return {
    float,
    quantize,
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
