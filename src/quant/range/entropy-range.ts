/** Entropy calibration: the magnitude limit with the smallest Kullback-Leibler divergence between the data and its quantization. */

import type { Range } from '../integers/qparams.js';
import { type IntegerScheme, mappedRange } from '../integers/quantized-dtype.js';
import type { Distribution } from '../sketch/distribution.js';
import { foldMagnitudes } from './percentile-range.js';

/** Distance between candidate limits, in bins. */
const STRIDE = 8;
const HALF = 0.5;

/**
 * Of the limits t = k · STRIDE bins and the end of the last bin, the one with the smallest divergence between the clipped distribution P and its
 * quantization Q in `levels` equal steps. Ties go to the smaller limit.
 * P: counts of magnitudes up to t, with those above t added to the last bin.
 * Q: the counts up to t in `levels` groups of bins, each group spread evenly over its bins that are not empty in P; if all of P's last group lies above t, Q has half an element there.
 * Both are scaled to sum 1. Zeros are left out: they are exact at every limit.
 * @see Migacz, 8-bit Inference with TensorRT, GTC 2017: the idea. Limits, groups and the handling of zero differ.
 */
export function leastDivergenceRange(distribution: Distribution, levels: number | 'integers', integers: IntegerScheme): Range {
  const { width, min, max } = distribution;
  const counts = foldMagnitudes(distribution);
  const limit = findLimit(counts, levels === 'integers' ? countLevels(distribution, integers) : levels) * width;
  return { low: Math.max(min, Math.fround(-limit)), high: Math.min(max, Math.fround(limit)) };
}

/** The number of integers from zero to the largest magnitude: all of them where the data has one sign and zero is at an end. */
function countLevels({ min, max }: Distribution, integers: IntegerScheme): number {
  const { low, high } = mappedRange(integers);
  const [least, most] = [Math.min(0, min), Math.max(0, max)];
  const share = integers.symmetric || most === least ? 0.5 : Math.max(-least, most) / (most - least);
  return Math.floor((high - low) * share) + 1;
}

/** The best limit, in bins. All bins if there are at most `levels`. */
function findLimit(counts: Float64Array, levels: number): number {
  const sums = sumUp(counts);
  let best = { bins: counts.length, divergence: Number.POSITIVE_INFINITY };
  for (let bins = levels - (levels % STRIDE) + STRIDE; bins < counts.length + STRIDE; bins += STRIDE) {
    const tried = Math.min(bins, counts.length);
    const divergence = divergenceAt(sums, counts, { bins: tried, levels });
    if (divergence < best.divergence) best = { bins: tried, divergence };
  }
  return best.bins;
}

/** Prefix sums over bins: counts, bins that are not empty, and count · ln count. */
interface Sums {
  readonly counts: Float64Array;
  readonly filled: Float64Array;
  readonly logs: Float64Array;
}

function sumUp(counts: Float64Array): Sums {
  const length = counts.length + 1;
  const sums = { counts: new Float64Array(length), filled: new Float64Array(length), logs: new Float64Array(length) };
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] as number;
    sums.counts[i + 1] = (sums.counts[i] as number) + count;
    sums.filled[i + 1] = (sums.filled[i] as number) + (count === 0 ? 0 : 1);
    sums.logs[i + 1] = (sums.logs[i] as number) + xLogX(count);
  }
  return sums;
}

/**
 * Σ p ln(p / q) with p and q as counts over their totals: (Σ P ln P − Σ P ln Q) / total P − ln(total P / total Q).
 * Q is equal for all bins of a group, so sums over groups are sufficient.
 */
function divergenceAt(sums: Sums, counts: Float64Array, { bins, levels }: { readonly bins: number; readonly levels: number }): number {
  const { counts: countSums, filled: filledSums, logs: logSums } = sums;
  const total = countSums[counts.length] as number;
  const inside = countSums[bins] as number;
  const outside = total - inside;
  const last = counts[bins - 1] as number;
  let cross = 0;
  let image = inside;
  let to = 0;
  // Without arrays and calls in the loop, which takes most of the time.
  for (let group = 0; group < levels; group++) {
    const from = to;
    to = Math.floor(((group + 1) * bins) / levels);
    const isLast = group === levels - 1;
    const own = (countSums[to] as number) - (countSums[from] as number);
    const clipped = own + (isLast ? outside : 0);
    if (clipped === 0) continue;
    const mass = isLast && own === 0 && outside > 0 ? HALF : own;
    const filled = (filledSums[to] as number) - (filledSums[from] as number) + (isLast && last === 0 && outside > 0 ? 1 : 0);
    image += mass - own;
    cross += clipped * Math.log(mass / filled);
  }
  const logs = (logSums[bins - 1] as number) + xLogX(last + outside);
  return (logs - cross) / total - Math.log(total / image);
}

function xLogX(x: number): number {
  return x === 0 ? 0 : x * Math.log(x);
}
