/** Shapes: lists of dims, row-major, with the last axis varying fastest. */
import { TensorError } from './tensor-error.js';

export type Shape = readonly number[];

/** The number of elements: the product of all dims, 1 for a scalar. @throws TensorError `bad-shape` unless all dims and the product are safe integers ≥ 0. */
export function countElements(dims: Shape): number {
  let count = 1;
  for (const dim of dims) {
    if (!Number.isSafeInteger(dim) || dim < 0)
      throw new TensorError('bad-shape', `${formatShape(dims)} has a dim that is not an integer ≥ 0`);
    count *= dim;
  }
  if (!Number.isSafeInteger(count)) throw new TensorError('bad-shape', `${formatShape(dims)} has too many elements`);
  return count;
}

/** Row-major strides in elements. */
export function stridesOf(dims: Shape): number[] {
  const strides = new Array<number>(dims.length).fill(1);
  for (let axis = dims.length - 2; axis >= 0; axis--) strides[axis] = (strides[axis + 1] ?? 1) * (dims[axis + 1] ?? 1);
  return strides;
}

export function sameShape(a: Shape, b: Shape): boolean {
  return a.length === b.length && a.every((dim, axis) => dim === b[axis]);
}

/** "[1, 3, 224, 224]" */
export function formatShape(dims: readonly (number | string)[]): string {
  return `[${dims.join(', ')}]`;
}
