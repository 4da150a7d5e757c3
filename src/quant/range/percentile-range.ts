/** Percentile ranges from calibration histograms. Elements count as evenly spread inside a bin. */

import type { Range } from '../integers/qparams.js';
import type { Distribution } from '../sketch/distribution.js';

/** The smallest limit t with |x| ≤ t for `percentile` percent of the elements. The result is the data range clipped to −t … t. */
export function percentileOfMagnitudes(distribution: Distribution, percentile: number): Range {
  const { zeros, total, min, max } = distribution;
  const wanted = (percentile / 100) * total - zeros;
  const limit = wanted <= 0 ? 0 : crossingOf(foldMagnitudes(distribution), distribution.width, wanted);
  return { low: Math.max(min, Math.fround(-limit)), high: Math.min(max, Math.fround(limit)) };
}

/** Cuts half of the excluded elements from the low end and half from the high end. */
export function percentileOfEachSide(distribution: Distribution, percentile: number): Range {
  const { total, min, max } = distribution;
  const cut = ((1 - percentile / 100) / 2) * total;
  return {
    low: Math.max(min, Math.fround(quantile(distribution, cut))),
    high: Math.min(max, Math.fround(quantile(distribution, total - cut))),
  };
}

/** The smallest value that `wanted` elements do not exceed. */
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

/** Counts of magnitudes: bin i starts at i · width. Zeros are not counted. */
export function foldMagnitudes({ counts, first }: Distribution): Float64Array {
  const folded = new Float64Array(Math.max(-first, first + counts.length));
  for (let i = 0; i < counts.length; i++) {
    const bin = first + i;
    const magnitude = bin >= 0 ? bin : -bin - 1;
    folded[magnitude] = (folded[magnitude] as number) + (counts[i] as number);
  }
  return folded;
}

/** The position where the cumulated counts, from 0 upwards, reach `wanted`. */
function crossingOf(counts: Float64Array, width: number, wanted: number): number {
  let below = 0;
  for (let bin = 0; bin < counts.length; bin++) {
    const count = counts[bin] as number;
    if (count > 0 && below + count >= wanted) return (bin + (wanted - below) / count) * width;
    below += count;
  }
  return counts.length * width;
}
