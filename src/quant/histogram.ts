/** How often does each size of value occur? Counts on a grid of powers of two, so that histograms of different ranges merge without error. */

/**
 * Bin i counts the values x with floor(x / 2^exponent) = i. Two histograms merge exactly by making the finer one coarser:
 * floor(floor(x) / 2) = floor(x / 2). Counts are integers, so the order of merging does not matter.
 */
export interface Histogram {
  readonly exponent: number;
  /** Index of the first bin that is not empty. */
  readonly first: number;
  /** Without empty bins at either end; empty where nothing was counted. */
  readonly counts: Float64Array;
}

/** Bins on each side of zero: between 2^10 and 2^11 are used, as the widest value lies in the outer half of its side. */
const BITS = 11;
const SMALLEST_EXPONENT = -149;
/** One pair for all: counting is synchronous, and what it found is copied out. Two, as neighbours often fall into one bin, and the second waits for the first. */
const [EVEN, ODD] = [new Uint32Array(2 * 2 ** BITS + 1), new Uint32Array(2 * 2 ** BITS + 1)];
/** Taken out of the global object once: a look-up per element is slow where globals are intercepted. */
const { floor } = Math;

export const EMPTY_HISTOGRAM: Histogram = { exponent: SMALLEST_EXPONENT, first: 0, counts: new Float64Array(0) };

/** Counts `data`, finite numbers, fewer than 2³² of them. @param limit the largest magnitude among them. */
export function countHistogram(data: Float32Array, limit: number): Histogram {
  const exponent = gridExponent(limit);
  const perUnit = 2 ** -exponent;
  const half = 2 ** BITS;
  EVEN.fill(0);
  ODD.fill(0);
  const paired = data.length - (data.length % 2);
  for (let i = 0; i < paired; i += 2) {
    const even = half + (floor((data[i] as number) * perUnit) | 0);
    const odd = half + (floor((data[i + 1] as number) * perUnit) | 0);
    EVEN[even] = (EVEN[even] as number) + 1;
    ODD[odd] = (ODD[odd] as number) + 1;
  }
  for (let i = paired; i < data.length; i++) {
    const bin = half + (floor((data[i] as number) * perUnit) | 0);
    EVEN[bin] = (EVEN[bin] as number) + 1;
  }
  const bins = Float64Array.from(EVEN);
  for (let bin = 0; bin < bins.length; bin++) bins[bin] = (bins[bin] as number) + (ODD[bin] as number);
  return trim(exponent, -half, bins);
}

/** The smallest e with limit ≤ 2^(e + BITS). */
function gridExponent(limit: number): number {
  if (limit === 0) return SMALLEST_EXPONENT;
  let power = Math.ceil(Math.log2(limit));
  if (2 ** power < limit) power++;
  else if (2 ** (power - 1) >= limit) power--;
  return Math.max(power - BITS, SMALLEST_EXPONENT);
}

/** Both sets of values counted together: commutative, associative, exact. */
export function mergeHistograms(a: Histogram, b: Histogram): Histogram {
  if (a.counts.length === 0) return b;
  if (b.counts.length === 0) return a;
  const exponent = Math.max(a.exponent, b.exponent);
  const [x, y] = [coarsen(a, exponent), coarsen(b, exponent)];
  const first = Math.min(x.first, y.first);
  const last = Math.max(x.first + x.counts.length, y.first + y.counts.length);
  const bins = new Float64Array(last - first);
  addCounts(bins, x.counts, x.first - first);
  addCounts(bins, y.counts, y.first - first);
  return trim(exponent, first, bins);
}

function addCounts(bins: Float64Array, counts: Float64Array, offset: number): void {
  for (let i = 0; i < counts.length; i++) bins[offset + i] = (bins[offset + i] as number) + (counts[i] as number);
}

function coarsen(histogram: Histogram, exponent: number): Histogram {
  const ratio = 2 ** (exponent - histogram.exponent);
  if (ratio === 1) return histogram;
  const { counts } = histogram;
  const first = floor(histogram.first / ratio);
  const last = floor((histogram.first + counts.length - 1) / ratio);
  const bins = new Float64Array(last - first + 1);
  for (let i = 0; i < counts.length; i++) {
    const bin = floor((histogram.first + i) / ratio) - first;
    bins[bin] = (bins[bin] as number) + (counts[i] as number);
  }
  return trim(exponent, first, bins);
}

function trim(exponent: number, first: number, bins: Float64Array): Histogram {
  let [start, end] = [0, bins.length];
  while (start < end && bins[start] === 0) start++;
  while (end > start && bins[end - 1] === 0) end--;
  return start === end ? EMPTY_HISTOGRAM : { exponent, first: first + start, counts: bins.slice(start, end) };
}
