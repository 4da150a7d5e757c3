/** Which scale suits a constant, whose every element is known? Chosen from the elements themselves, in total or per slice. */
import { assertNever } from '../base/assert-never.js';
import { fitPosition, paramsAt } from './choose-position.js';
import { nearestPosition, POSITIONS } from './power-of-two.js';
import { computeQParams, type QParams, type Range } from './qparams.js';
import { type IntegerRange, type IntegerScheme, mappedRange, storageRange } from './quantized-dtype.js';
import { measureLoss } from './quantized-loss.js';
import type { FloatRangeMethod, PositionRule } from './range-method.js';

/** The methods of activations that constants have too. */
export type WeightRangeMethod =
  | Extract<FloatRangeMethod, { readonly kind: 'min-max' }>
  | { readonly kind: 'power-of-two'; readonly position: WeightPositionRule };

/** Positions count from the nearest one of the min-max range, and the error is that of all elements. */
export type WeightPositionRule =
  | Extract<PositionRule, { readonly kind: 'min-mse' }>
  | { readonly kind: 'non-overflow'; readonly of: { readonly kind: 'min-max' }; readonly rounding: 'nearest' | 'up' };

export function isWeightMethod(method: { readonly kind: string }): method is WeightRangeMethod {
  return method.kind === 'min-max' || method.kind === 'power-of-two';
}

/** Elements [start, end) of each run belong to one slice. */
export interface Slice {
  readonly data: Float32Array;
  readonly runs: readonly (readonly [start: number, end: number])[];
}

/** Scale and zero point for the elements of `slice`, which lie in `range`. */
export function chooseWeightQParams(slice: Slice, range: Range, scheme: IntegerScheme, method: WeightRangeMethod): QParams {
  if (method.kind === 'min-max') return computeQParams(range, scheme);
  const { position } = method;
  switch (position.kind) {
    case 'non-overflow':
      return fitPosition(range, position.rounding, scheme);
    case 'min-mse':
      return leastError(slice, range, scheme, position);
    default:
      return assertNever(position);
  }
}

/** Of equal errors the least position, which is the largest scale. */
function leastError(
  slice: Slice,
  range: Range,
  scheme: IntegerScheme,
  { first, last }: { readonly first: number; readonly last: number },
): QParams {
  // Signed symmetric types may use their lowest integer here: a position leaves no choice of the range's ends.
  const integers = scheme.reduceRange ? mappedRange(scheme) : storageRange(scheme.dtype);
  const nearest = nearestPosition(computeQParams(range, scheme).scale);
  let best = paramsAt(nearest, range, scheme);
  if (range.low === 0 && range.high === 0) return best;
  let least = Number.POSITIVE_INFINITY;
  for (let position = Math.max(nearest + first, POSITIONS.low); position <= Math.min(nearest + last, POSITIONS.high); position++) {
    const qparams = paramsAt(position, range, scheme);
    const error = squaredError(slice, qparams, integers);
    if (error < least) [best, least] = [qparams, error];
  }
  return best;
}

/** Σ (x − what stands for it)² in double. The scale is a power of two: quotients, products and differences are exact. */
function squaredError({ data, runs }: Slice, qparams: QParams, integers: IntegerRange): number {
  return runs.reduce((sum, [start, end]) => sum + measureLoss(data.subarray(start, end), qparams, integers).noise, 0);
}
