/** Chooses scale and zero point of a constant from all its elements, in total or per slice. */
import { assertNever } from '../../base/assert-never.js';
import { nearestPosition, POSITIONS } from '../integers/power-of-two.js';
import { computeQParams, type QParams, type Range } from '../integers/qparams.js';
import { type IntegerRange, type IntegerScheme, mappedRange, saturationRange } from '../integers/quantized-dtype.js';
import { measureNoise } from '../integers/signal-noise.js';
import { fitPosition, paramsAt } from './choose-position.js';
import { clipRange } from './clip-range.js';
import type { FloatRangeMethod, PositionRule } from './range-method.js';

/** The range methods that constants support. */
export type WeightRangeMethod =
  | Extract<FloatRangeMethod, { readonly kind: 'min-max' | 'clip' | 'mse' }>
  | { readonly kind: 'power-of-two'; readonly position: WeightPositionRule };

/** Positions are counted from the nearest one of the min-max range; the error is that of all elements. */
export type WeightPositionRule =
  | Extract<PositionRule, { readonly kind: 'min-mse' }>
  | { readonly kind: 'non-overflow'; readonly of: { readonly kind: 'min-max' }; readonly rounding: 'nearest' | 'up' };

export function isWeightMethod(method: { readonly kind: string }): method is WeightRangeMethod {
  return method.kind === 'min-max' || method.kind === 'clip' || method.kind === 'mse' || method.kind === 'power-of-two';
}

/** The elements [start, end) of all runs form one slice. */
export interface Slice {
  readonly data: Float32Array;
  readonly runs: readonly (readonly [start: number, end: number])[];
}

/** Scale and zero point for the elements of `slice`, which lie in `range`. */
export function chooseWeightQParams(slice: Slice, range: Range, scheme: IntegerScheme, method: WeightRangeMethod): QParams {
  if (method.kind === 'min-max') return computeQParams(range, scheme);
  if (method.kind === 'clip') return computeQParams(clipRange(range, method.share), scheme);
  if (method.kind === 'mse') return leastErrorRange(slice, range, scheme, method.candidates);
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

/** Of the ranges [low, high] · k / candidates, the one with the smallest squared error of all elements. Ties go to the largest range. */
function leastErrorRange(slice: Slice, { low, high }: Range, scheme: IntegerScheme, candidates: number): QParams {
  let best = computeQParams({ low, high }, scheme);
  const largest = Math.max(-low, high);
  let least = squaredError(slice, best, saturationRange(scheme), { enough: Number.POSITIVE_INFINITY, largest });
  for (let k = candidates - 1; k >= 1 && least > 0; k--) {
    const range = { low: Math.fround((low * k) / candidates), high: Math.fround((high * k) / candidates) };
    const qparams = computeQParams(range, scheme);
    const error = squaredError(slice, qparams, saturationRange(scheme), { enough: least, largest });
    if (error < least) [best, least] = [qparams, error];
  }
  return best;
}

/** Ties go to the smallest position, which is the largest scale. */
function leastError(
  slice: Slice,
  range: Range,
  scheme: IntegerScheme,
  offsets: { readonly first: number; readonly last: number },
): QParams {
  // Signed symmetric types may use their lowest integer here, because a position fixes the ends of the range.
  const integers = scheme.reduceRange ? mappedRange(scheme) : saturationRange(scheme);
  const nearest = nearestPosition(computeQParams(range, scheme).scale);
  if (range.low === 0 && range.high === 0) return paramsAt(nearest, range, scheme);
  const largest = Math.max(-range.low, range.high);
  const tried = Array.from({ length: offsets.last - offsets.first + 1 }, (_, i) => nearest + offsets.first + i)
    .filter(position => position >= POSITIONS.low && position <= POSITIONS.high)
    .map(position => ({ qparams: paramsAt(position, range, scheme), error: 0, done: 0 }));
  const [first] = tried;
  if (first === undefined) return paramsAt(nearest, range, scheme);
  const blocks = cutBlocks(slice);
  for (;;) {
    // The candidate with the least error so far goes on. Errors only grow: the first one that reaches the end has the least.
    const next = tried.reduce((least, one) => (one.error < least.error ? one : least), first);
    const block = blocks[next.done];
    if (block === undefined) return next.qparams;
    next.error += measureNoise(block, next.qparams, integers, largest);
    next.done++;
  }
}

const BLOCK = 1 << 16;

interface ErrorLimits {
  /** The error is Infinity once it exceeds this. */
  readonly enough: number;
  /** No magnitude is greater. */
  readonly largest: number;
}

/** Σ (x − dequantized x)² in double, block by block. With a power of two as scale, all differences are exact. */
function squaredError(slice: Slice, qparams: QParams, integers: IntegerRange, { enough, largest }: ErrorLimits): number {
  let sum = 0;
  for (const block of cutBlocks(slice)) {
    sum += measureNoise(block, qparams, integers, largest);
    if (sum > enough) return Number.POSITIVE_INFINITY;
  }
  return sum;
}

/** Its elements in pieces, which are parts of runs. */
function cutBlocks({ data, runs }: Slice): readonly Float32Array[] {
  return runs.flatMap(([start, end]) =>
    Array.from({ length: Math.ceil((end - start) / BLOCK) }, (_, i) =>
      data.subarray(start + i * BLOCK, Math.min(start + (i + 1) * BLOCK, end)),
    ),
  );
}
