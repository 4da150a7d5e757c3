/** Replaces named sizes of a model with numbers, and infers the dependent shapes again. */
import { findClosest } from '../../base/text/did-you-mean.js';
import { cloneModel } from '../../onnx/ir/clone.js';
import type { Model, ValueType } from '../../onnx/ir/model.js';
import { TargetError } from '../report/target-error.js';

export type Pins = Readonly<Record<string, number>>;

/** The size names in the shapes of the model's inputs. */
export function findSizeNames(model: Model): readonly string[] {
  const names = new Set<string>();
  for (const id of model.graph.inputs) {
    const type = model.graph.values.get(id)?.type;
    if (type?.kind === 'tensor') for (const dim of type.dims ?? []) if (typeof dim === 'string') names.add(dim);
  }
  return [...names];
}

/** @throws TargetError `unknown-size`, listing every pin that no model input has. */
export function checkPins(pins: Pins, models: readonly Model[]): void {
  const known = new Set(models.flatMap(findSizeNames));
  const unknown = Object.keys(pins).filter(name => !known.has(name));
  if (unknown.length === 0) return;
  const names = [...known].sort();
  const closest = findClosest(unknown[0] ?? '', names);
  throw new TargetError('unknown-size', `no model input has a size named ${unknown.map(name => `"${name}"`).join(', ')}`, {
    details: unknown,
    help:
      names.length === 0
        ? 'all input sizes are numbers; remove `pin`'
        : `known sizes: ${names.join(', ')}${closest === undefined ? '' : `; did you mean "${closest}"?`}`,
  });
}

/** A copy of `model` with every pinned size replaced by its number. */
export function pinSizes(model: Model, pins: Pins): Model {
  const copy = cloneModel(model);
  for (const value of copy.graph.values.values()) value.type = pinType(value.type, pins);
  return copy;
}

function pinType(type: ValueType | undefined, pins: Pins): ValueType | undefined {
  if (type?.kind !== 'tensor' || type.dims === undefined) return type;
  return { ...type, dims: type.dims.map(dim => (typeof dim === 'string' && Object.hasOwn(pins, dim) ? pins[dim] : dim)) };
}
