/** The mse range method: shrinks the min-max range to the smallest sum of squared errors from saturation and rounding. */

import { computeQParams, type Range } from '../integers/qparams.js';
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import type { Distribution } from '../sketch/distribution.js';
import { squaredErrorBelow } from './squared-error.js';

/**
 * Of the ranges [min, max] · k / candidates, k = 1 … candidates, the one with the smallest squared error after quantization. Ties go to the largest range.
 */
export function leastErrorRange(distribution: Distribution, candidates: number, integers: IntegerScheme): Range {
  const known = KNOWN.get(distribution) ?? new Map<string, Range>();
  KNOWN.set(distribution, known);
  const { dtype, symmetric, reduceRange, bits } = integers;
  const key = JSON.stringify([candidates, dtype, symmetric, reduceRange, bits ?? null]);
  const range = known.get(key) ?? findLeastErrorRange(distribution, candidates, integers);
  known.set(key, range);
  return range;
}

/** Cache: a search for types or ranges quantizes one model again and again. */
const KNOWN = new WeakMap<Distribution, Map<string, Range>>();

function findLeastErrorRange(distribution: Distribution, candidates: number, integers: IntegerScheme): Range {
  const { min, max } = distribution;
  let best = { k: Number.POSITIVE_INFINITY, range: { low: min, high: max }, error: Number.POSITIVE_INFINITY };
  // A few spread candidates first: the error of a worse one then soon exceeds the best.
  for (const k of spreadOut(candidates)) {
    const range = { low: Math.fround((min * k) / candidates), high: Math.fround((max * k) / candidates) };
    const enough = k > best.k ? best.error * (1 + Number.EPSILON) + Number.MIN_VALUE : best.error;
    const error = squaredErrorBelow(distribution, computeQParams(range, integers), integers, enough);
    if (error < best.error || (error === best.error && k > best.k)) best = { k, range, error };
  }
  return best.range;
}

/** Distance of the candidates that come first. */
const STRIDE = 8;

/** The numbers from `count` down to 1: each eighth, then the others. */
function spreadOut(count: number): readonly number[] {
  const all = Array.from({ length: count }, (_, i) => count - i);
  const isFirst = (k: number): boolean => (count - k) % STRIDE === 0;
  return [...all.filter(isFirst), ...all.filter(k => !isFirst(k))];
}
