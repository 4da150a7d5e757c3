/** Histograms on power-of-two grids with integer counts and offsets, so that they add without rounding. */

/**
 * Bin i holds the values x with floor(x / 2^exponent) = i. The distance of a value to the lower edge of its bin is known to 2^(exponent − OFFSET_BITS),
 * rounded down; `offsets` are the sums of these distances in that unit. Counts and offsets are integers below 2⁵³.
 */
export interface Histogram {
  readonly exponent: number;
  /** Index of the first bin that is not empty. */
  readonly first: number;
  /** Without empty bins at the ends; empty if nothing was counted. */
  readonly counts: Float64Array;
  readonly offsets: Float64Array;
}

/** log2 of the bins on each side of zero. Between 2^10 and 2^11 are used, because the largest magnitude lies in the outer half. */
export const BITS = 11;
export const OFFSET_BITS = 8;
export const SMALLEST_EXPONENT = -149;

/** The grid for magnitudes up to `limit`: the smallest e with limit ≤ 2^(e + BITS). */
export function gridExponent(limit: number): number {
  if (limit === 0) return SMALLEST_EXPONENT;
  let power = Math.ceil(Math.log2(limit));
  if (2 ** power < limit) power++;
  else if (2 ** (power - 1) >= limit) power--;
  return Math.max(power - BITS, SMALLEST_EXPONENT);
}

/** Removes empty bins at both ends. `first` is the index of the first array element. */
export function trimHistogram({ exponent, first, counts, offsets }: Histogram): Histogram {
  let start = 0;
  let end = counts.length;
  while (start < end && counts[start] === 0) start++;
  while (end > start && counts[end - 1] === 0) end--;
  return { exponent, first: first + start, counts: counts.slice(start, end), offsets: offsets.slice(start, end) };
}

/**
 * Merges the counts of both lists. Histograms on the same grid are added; those on different grids stay separate, sorted by grid.
 * Nothing is rounded, so the order of merges does not matter. A value has few grids: one per power of two of the largest magnitudes of its samples.
 */
export function mergeHistograms(a: readonly Histogram[], b: readonly Histogram[]): readonly Histogram[] {
  const byGrid = new Map(a.map(histogram => [histogram.exponent, histogram]));
  for (const histogram of b) {
    const other = byGrid.get(histogram.exponent);
    byGrid.set(histogram.exponent, other === undefined ? histogram : addHistograms(other, histogram));
  }
  return [...byGrid.values()].sort((x, y) => x.exponent - y.exponent);
}

function addHistograms(a: Histogram, b: Histogram): Histogram {
  const first = Math.min(a.first, b.first);
  const length = Math.max(a.first + a.counts.length, b.first + b.counts.length) - first;
  const add = (x: Float64Array, y: Float64Array): Float64Array => {
    const sum = new Float64Array(length);
    sum.set(x, a.first - first);
    for (let i = 0; i < y.length; i++) sum[b.first - first + i] = (sum[b.first - first + i] as number) + (y[i] as number);
    return sum;
  };
  return { exponent: a.exponent, first, counts: add(a.counts, b.counts), offsets: add(a.offsets, b.offsets) };
}
