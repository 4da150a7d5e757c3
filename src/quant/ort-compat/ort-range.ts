/** Which range would onnxruntime.quantization 1.30 choose? Its arithmetic, step by step, on the histograms that it would have collected. */

import type { Range } from '../integers/qparams.js';
import { QuantError } from '../integers/quant-error.js';
import type { Sketch } from '../sketch/sketch.js';
import { edgesOf, planBinning } from './ort-histogram.js';
import type { OrtHistogram, OrtHistogramOf, OrtObserved, OrtRangeMethod } from './ort-method.js';
import { sumPairwise } from './pairwise-sum.js';

const { fround } = Math;

/** A value that calibration saw; its sketch has at least one finite element. */
interface Seen {
  readonly name: string;
  readonly sketch: Sketch;
  readonly ort: OrtObserved;
}

/**
 * MinMaxCalibrater(moving_average=True) given all samples at once, as quantize_static does: the mean of each sample's least and greatest element, added in float32
 * in NumPy's order. The averaging constant has no part in it: it joins calls, and there is one.
 */
export function ortMovingAverage({ ort: { sampleMin, sampleMax } }: Seen): Range {
  return { low: meanOf(sampleMin), high: meanOf(sampleMax) };
}

/** numpy.nanmean; samples without elements are NaN. */
function meanOf(values: Float32Array): number {
  const present = values.filter(x => !Number.isNaN(x));
  return fround(sumPairwise(values.map(x => (Number.isNaN(x) ? 0 : x))) / present.length);
}

/** PercentileCalibrater: the left edge of the bin at which the cumulated share reaches the percentile, cut to what was seen. */
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

/** The first index whose value is at least `wanted`. */
function searchSorted(sorted: Float64Array, wanted: number): number {
  const index = sorted.findIndex(value => value >= wanted);
  return index === -1 ? sorted.length : index;
}

/**
 * Ends beyond what was seen move there. One end alone may: the left edge of the bin that holds a constant lies below it. The peer's quantizer widens such reversed
 * ends to contain zero, and so gets a range; so do we.
 */
function cut({ low, high }: Range, { min = 0, max = 0 }: Sketch): Range {
  const range = { low: low < min ? min : low, high: high > max ? max : high };
  return range.low <= range.high ? range : { low: Math.min(range.low, 0), high: Math.max(range.high, 0) };
}

/** EntropyCalibrater: of the ranges that grow bin by bin from the middle, the first with the least divergence, cut to what was seen. */
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
    throw new QuantError('no-ort-histogram', `value "${seen.name}": ${bins} bins cannot be searched with ${quantizedBins} quantized ones`, {
      help: 'take at least as many bins as quantized bins',
    });
  }
  return cut(best.range, seen.sketch);
}

/** The divergence of bins `start` … `end` from their image in `levels` groups, in float32; infinite where a distribution has nothing. */
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
    // Assigned to integers: cut off.
    if (filled !== 0) image.fill(Math.trunc(mass / filled), from, from + merged);
  }
  const [p, q] = [smooth(clipped), smooth(image)];
  return p === undefined || q === undefined ? Number.POSITIVE_INFINITY : relativeEntropy(normalize(p), normalize(q));
}

/** smooth_distribution: empty bins get 1e-4, which the others give. */
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
    throw new QuantError('no-ort-histogram', `value "${name}": calibrate collected no histogram of ${of} in ${bins} bins`, {
      help: 'set ortHistograms of calibrate to what the method needs',
    });
  }
  return { counts: found.counts, edges: edgesOf(planBinning(sketch, of, bins)) };
}
