/** The mse range method: shrinks the min-max range to the smallest sum of squared errors from saturation and rounding. */

import { computeQParams, type Range } from '../integers/qparams.js';
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import type { Distribution } from '../sketch/distribution.js';
import { squaredError } from './squared-error.js';

/**
 * Of the ranges [min, max] · k / candidates, k = 1 … candidates, the one with the smallest squared error after quantization. Ties go to the largest range.
 */
export function leastErrorRange(distribution: Distribution, candidates: number, integers: IntegerScheme): Range {
  const { min, max } = distribution;
  let best = { range: { low: min, high: max }, error: Number.POSITIVE_INFINITY };
  for (let k = candidates; k >= 1; k--) {
    const range = { low: Math.fround((min * k) / candidates), high: Math.fround((max * k) / candidates) };
    const error = squaredError(distribution, computeQParams(range, integers), integers);
    if (error < best.error) best = { range, error };
  }
  return best.range;
}
