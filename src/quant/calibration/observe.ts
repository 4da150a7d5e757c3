/** The calibration data of a model's values, found by what they compute. */
import { getValue } from '../../onnx/ir/edit.js';
import type { Model, ValueId } from '../../onnx/ir/model.js';
import type { Observation } from '../range/range-method.js';
import type { ModelSketches } from './model-sketches.js';
import { addressValues } from './value-address.js';

/** Values without a sketch are absent. */
export function observe(model: Model, sketches: ModelSketches): Map<ValueId, Observation> {
  const observations = new Map<ValueId, Observation>();
  for (const [id, address] of addressValues(model)) {
    const found = sketches.values.get(address);
    if (found === undefined) continue;
    observations.set(id, { kind: 'seen', name: getValue(model.graph, id).name, sketch: found.sketch, ort: found.ort });
  }
  return observations;
}
