/** The ranges of onnxruntime.quantization 1.30, computed with its arithmetic step by step. */

import type { Range } from '../integers/qparams.js';
import { QuantError } from '../integers/quant-error.js';
import type { Sketch } from '../sketch/sketch.js';
import { edgesOf, planBinning } from './ort-histogram.js';
import type { OrtHistogram, OrtHistogramOf, OrtObserved, OrtRangeMethod } from './ort-method.js';
import { sumPairwise } from './pairwise-sum.js';

const { fround } = Math;

/** A calibrated value whose sketch has at least one finite element. */
interface Seen {
  readonly name: string;
  readonly sketch: Sketch;
  readonly ort: OrtObserved;
}

/**
 * MinMaxCalibrater(moving_average=True) with all samples in one call, as quantize_static does: the mean of the samples' minima and maxima,
 * added in float32 in NumPy's order. The averaging constant is not used, because it applies between calls.
 */
export function ortMovingAverage({ ort: { sampleMin, sampleMax } }: Seen): Range {
  return { low: meanOf(sampleMin), high: meanOf(sampleMax) };
}

/** numpy.nanmean: NaN stands for samples without elements. */
function meanOf(values: Float32Array): number {
  const present = values.filter(x => !Number.isNaN(x));
  return fround(sumPairwise(values.map(x => (Number.isNaN(x) ? 0 : x))) / present.length);
}

/** PercentileCalibrater: the left edge of the bin where the cumulated share reaches the percentile, clipped to the data range. */
export function ortPercentile(seen: Seen, { percentile, of, bins }: OrtRangeMethod & { kind: 'ort-percentile' }): Range {
  const { counts, edges } = histogramOf(seen, of, bins);
  const total = counts.reduce((sum, count) => sum + count, 0);
  const cumulated = counts.map(count => count / total);
  for (let i = 1; i < cumulated.length; i++) cumulated[i] = (cumulated[i - 1] as number) + (cumulated[i] as number);
  const edgeAt = (wanted: number): number => edges[searchSorted(cumulated, wanted)] as number;
  if (of === 'magnitudes') {
    const limit = edgeAt(percentile / 100);
    return cut({ low: -limit + 0, high: limit }, seen.sketch);
  }
  const side = (100 - percentile) / 200;
  return cut({ low: edgeAt(side), high: edgeAt(1 - side) }, seen.sketch);
}

/** Index of the first value that is at least `wanted`. */
function searchSorted(sorted: Float64Array, wanted: number): number {
  const index = sorted.findIndex(value => value >= wanted);
  return index === -1 ? sorted.length : index;
}

/**
 * Clips the ends to the data range. Only one end may need it: the left edge of the bin of a constant lies below that constant, which reverses the ends.
 * onnxruntime.quantization then widens the range to contain zero, and so does this function.
 */
function cut({ low, high }: Range, { min = 0, max = 0 }: Sketch): Range {
  const range = { low: low < min ? min : low, high: high > max ? max : high };
  return range.low <= range.high ? range : { low: Math.min(range.low, 0), high: Math.max(range.high, 0) };
}

/** EntropyCalibrater: of the ranges that grow bin by bin from the middle, the first with the smallest divergence, clipped to the data range. */
export function ortEntropy(seen: Seen, { bins, quantizedBins }: OrtRangeMethod & { kind: 'ort-entropy' }): Range {
  const { counts, edges } = histogramOf(seen, 'values', bins);
  const middle = Math.floor(bins / 2);
  let best: { readonly range: Range; readonly divergence: number } | undefined;
  for (let i = Math.floor(quantizedBins / 2); i <= middle; i++) {
    const [start, end] = [middle - i, Math.min(middle + i + 1, bins)];
    const divergence = divergenceOf(counts, start, end, quantizedBins);
    const range = { low: edges[start] as number, high: edges[end] as number };
    if (best === undefined || divergence < best.divergence) best = { range, divergence };
  }
  if (best === undefined) {
    throw new QuantError('no-ort-histogram', `value "${seen.name}": ${bins} bins are fewer than ${quantizedBins} quantized bins`, {
      help: 'set bins to at least quantizedBins',
    });
  }
  return cut(best.range, seen.sketch);
}

/** Divergence of bins `start` … `end` from their quantization in `levels` groups, in float32. Infinite for an empty distribution. */
function divergenceOf(counts: Float64Array, start: number, end: number, levels: number): number {
  const slice = counts.slice(start, end);
  const sum = (from: number, to: number): number => counts.subarray(from, to).reduce((total, count) => total + count, 0);
  const clipped = slice.slice();
  clipped[0] = (clipped[0] as number) + sum(0, start);
  clipped[clipped.length - 1] = (clipped[clipped.length - 1] as number) + sum(end, counts.length);
  const merged = Math.floor(slice.length / levels);
  const image = new Float64Array(slice.length);
  for (let level = 0; level < levels; level++) {
    const from = level * merged;
    const last = level === levels - 1;
    const mass = slice.subarray(from, last ? slice.length : from + merged).reduce((total, count) => total + count, 0);
    const filled = clipped.subarray(from, from + merged).reduce((total, count) => total + (count === 0 ? 0 : 1), 0);
    // The peer assigns to an integer array, which truncates.
    if (filled !== 0) image.fill(Math.trunc(mass / filled), from, from + merged);
  }
  const [p, q] = [smooth(clipped), smooth(image)];
  return p === undefined || q === undefined ? Number.POSITIVE_INFINITY : relativeEntropy(normalize(p), normalize(q));
}

/** smooth_distribution: empty bins get 1e-4, taken evenly from the other bins. */
function smooth(counts: Float64Array): Float32Array | undefined {
  const empty = counts.reduce((count, x) => count + (x === 0 ? 1 : 0), 0);
  const filled = counts.length - empty;
  if (filled === 0) return undefined;
  const given = (1e-4 * empty) / filled;
  return Float32Array.from(counts, x => fround(fround(x) + (x === 0 ? fround(1e-4) : fround(-given))));
}

function normalize(values: Float32Array): Float32Array {
  const total = sumPairwise(values);
  return values.map(x => fround(x / total));
}

function relativeEntropy(p: Float32Array, q: Float32Array): number {
  const terms = p.map((x, i) => fround(x * fround(Math.log(fround(x / (q[i] as number))))));
  return sumPairwise(terms);
}

function histogramOf({ name, sketch, ort }: Seen, of: OrtHistogramOf, bins: number): { counts: Float64Array; edges: Float32Array } {
  const found: OrtHistogram | undefined = ort.histograms.find(histogram => histogram.of === of && histogram.counts.length === bins);
  if (found === undefined) {
    throw new QuantError('no-ort-histogram', `value "${name}": calibration has no histogram of ${of} with ${bins} bins`, {
      help: 'add this histogram to ortHistograms of the calibrate stage',
    });
  }
  return { counts: found.counts, edges: edgesOf(planBinning(sketch, of, bins)) };
}
