/** Between which limits do so many of 100 elements lie? Read off the distribution, evenly between the edges of a bin. */

import type { Range } from '../integers/qparams.js';
import type { Distribution } from '../sketch/distribution.js';

/** The least limit t such that `percentile` of 100 elements have |x| ≤ t; what was seen, cut at −t and t. */
export function percentileOfMagnitudes(distribution: Distribution, percentile: number): Range {
  const { zeros, total, min, max } = distribution;
  const wanted = (percentile / 100) * total - zeros;
  const limit = wanted <= 0 ? 0 : crossingOf(foldMagnitudes(distribution), distribution.width, wanted);
  return { low: Math.max(min, Math.fround(-limit)), high: Math.min(max, Math.fround(limit)) };
}

/** Half of what is left out lies below the range, half above. */
export function percentileOfEachSide(distribution: Distribution, percentile: number): Range {
  const { total, min, max } = distribution;
  const cut = ((1 - percentile / 100) / 2) * total;
  return {
    low: Math.max(min, Math.fround(quantile(distribution, cut))),
    high: Math.min(max, Math.fround(quantile(distribution, total - cut))),
  };
}

/** The least value that `wanted` elements do not exceed. */
function quantile({ counts, first, width, zeros, max }: Distribution, wanted: number): number {
  let below = 0;
  for (let i = 0; i < counts.length; i++) {
    if (first + i === 0) {
      below += zeros;
      if (zeros > 0 && below >= wanted) return 0;
    }
    const count = counts[i] as number;
    if (count > 0 && below + count >= wanted) return (first + i + (wanted - below) / count) * width;
    below += count;
  }
  return max;
}

/** Counts of magnitudes: bin i holds those from i · width on. Zeros are not among them. */
export function foldMagnitudes({ counts, first }: Distribution): Float64Array {
  const folded = new Float64Array(Math.max(-first, first + counts.length));
  for (let i = 0; i < counts.length; i++) {
    const bin = first + i;
    const magnitude = bin >= 0 ? bin : -bin - 1;
    folded[magnitude] = (folded[magnitude] as number) + (counts[i] as number);
  }
  return folded;
}

/** Where the sum of `counts` from 0 upwards reaches `wanted`. */
function crossingOf(counts: Float64Array, width: number, wanted: number): number {
  let below = 0;
  for (let bin = 0; bin < counts.length; bin++) {
    const count = counts[bin] as number;
    if (count > 0 && below + count >= wanted) return (bin + (wanted - below) / count) * width;
    below += count;
  }
  return counts.length * width;
}
