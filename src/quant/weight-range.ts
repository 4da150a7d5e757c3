/** Which scale suits a constant, whose every element is known? Chosen from the elements themselves, in total or per slice. */
import { assertNever } from '../base/assert-never.js';
import { fitPosition, paramsAt } from './choose-position.js';
import { nearestPosition, POSITIONS } from './power-of-two.js';
import { computeQParams, type QParams, type Range } from './qparams.js';
import { type IntegerRange, type IntegerScheme, mappedRange, storageRange } from './quantized-dtype.js';
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

/** Σ (x − what stands for it)² in double, in memory order. The scale is a power of two: quotients and products are exact. */
function squaredError({ data, runs }: Slice, { scale, zeroPoint }: QParams, integers: IntegerRange): number {
  const [perUnit, least, greatest] = [1 / scale, integers.low - zeroPoint, integers.high - zeroPoint];
  let sum = 0;
  for (const [start, end] of runs) {
    for (let i = start; i < end; i++) {
      const x = (data[i] as number) * perUnit;
      // 1.5 · 2⁵²: adding it rounds halves to even (rounding.ts). Inline, as this is the inner loop over every weight.
      const rounded = x + 6755399441055744 - 6755399441055744;
      const difference = x - (rounded > greatest ? greatest : rounded < least ? least : rounded);
      sum += difference * difference;
    }
  }
  return sum * scale * scale;
}
