/** Arithmetic with dims. A result is a number if all operands are known, a name if the operation does not change it, and otherwise unknown. */
import type { Dim } from '../../ir/model.js';

export function addDims(a: Dim, b: Dim): Dim {
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (a === 0) return b;
  return b === 0 ? a : undefined;
}

export function subtractDims(a: Dim, b: Dim): Dim {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return b === 0 ? a : undefined;
}

export function multiplyDims(a: Dim, b: Dim): Dim {
  if (typeof a === 'number' && typeof b === 'number') return a * b;
  if (a === 1) return b;
  if (b === 1) return a;
  return a === 0 || b === 0 ? 0 : undefined;
}

/** Integer division rounded toward zero, as Div of ONNX. */
export function divideDims(a: Dim, b: Dim): Dim {
  if (b === 1) return a;
  return typeof a === 'number' && typeof b === 'number' && b !== 0 ? Math.trunc(a / b) : undefined;
}

export function productOf(dims: readonly Dim[]): Dim {
  return dims.includes(0) ? 0 : dims.reduce<Dim>((product, dim) => multiplyDims(product, dim), 1);
}

export function isStatic(dims: readonly Dim[] | undefined): dims is readonly number[] {
  return dims?.every(dim => typeof dim === 'number') ?? false;
}

/** `axis` as a non-negative axis; undefined if it is outside [−rank, rank). */
export function resolveAxis(axis: number, rank: number): number | undefined {
  const resolved = axis < 0 ? axis + rank : axis;
  return resolved >= 0 && resolved < rank ? resolved : undefined;
}

/** A list of `rank` unknown dims. */
export function unknownDims(rank: number): Dim[] {
  return Array.from({ length: rank }, () => undefined);
}

/** The NumPy broadcast of two shapes; undefined if known dims contradict each other. */
export function broadcastTwo(a: readonly Dim[], b: readonly Dim[]): readonly Dim[] | undefined {
  const rank = Math.max(a.length, b.length);
  const result: Dim[] = [];
  for (let axis = 0; axis < rank; axis++) {
    const left = axis < rank - a.length ? 1 : a[axis - rank + a.length];
    const right = axis < rank - b.length ? 1 : b[axis - rank + b.length];
    if (left === right) result.push(left);
    else if (left === 1) result.push(right);
    else if (right === 1) result.push(left);
    else if (typeof left === 'number' && typeof right === 'number') return undefined;
    else result.push(typeof left === 'number' ? left : typeof right === 'number' ? right : undefined);
  }
  return result;
}
