/** How far should a range be shrunk, so that what saturates and what is rounded lose least together? */

import { computeQParams, type Range } from '../integers/qparams.js';
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import type { Distribution } from '../sketch/distribution.js';
import { squaredError } from './squared-error.js';

/**
 * Of the ranges [min, max] · k / candidates, k = 1 … candidates, the one whose integers and scale leave the least squared error; of equal ones the largest.
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
