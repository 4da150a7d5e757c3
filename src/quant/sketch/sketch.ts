/** Sketches: summaries of activation tensors with bounded size, which merge over samples in any order to the same bytes. */
import { type ChannelRanges, mergeChannelRanges } from './channel-ranges.js';
import { addDyadic, type Dyadic, toDyadic, ZERO } from './exact-sum.js';
import { gridExponent, type Histogram, mergeHistograms, trimHistogram } from './histogram.js';
import { ORIGIN } from './scalar-summary.js';
import { addUp, countBins } from './summarize.js';

export interface Sketch {
  /** Number of elements, finite or not. */
  readonly count: number;
  readonly nan: number;
  readonly infinite: number;
  /** Number of elements that are 0 or −0. */
  readonly zeros: number;
  /** Smallest and largest finite element, and the smallest magnitude: exact float32 numbers (−0 becomes 0); undefined if there is none. */
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly leastMagnitude: number | undefined;
  /** Sum of the finite elements: in double and fixed order inside a sample, exact between samples, so that the order of samples does not matter. */
  readonly sum: Dyadic;
  /** Sum of their squares, computed in the same way. */
  readonly sumOfSquares: Dyadic;
  /** Sorted by exponent: one per power of two of the samples' largest magnitude. None is empty. */
  readonly histograms: readonly Histogram[];
  /** Present if requested. */
  readonly channels: ChannelRanges | undefined;
}

export const EMPTY_SKETCH: Sketch = {
  count: 0,
  nan: 0,
  infinite: 0,
  zeros: 0,
  min: undefined,
  max: undefined,
  leastMagnitude: undefined,
  sum: ZERO,
  sumOfSquares: ZERO,
  histograms: [],
  channels: undefined,
};

/** The sketch of one sample's tensor. Reads `data` twice and does not keep it. */
export function sketchTensor(data: Float32Array): Sketch {
  if (data.length === 0) return EMPTY_SKETCH;
  const { min, max, leastMagnitude, zeros, sum, squares } = addUp(data);
  // A sum of finite float32 numbers cannot overflow in double, and NaN or infinity makes it NaN or infinite.
  if (!Number.isFinite(sum)) return sketchOfFinite(data);
  return {
    count: data.length,
    nan: 0,
    infinite: 0,
    zeros,
    min,
    max,
    leastMagnitude,
    sum: toDyadic(sum),
    sumOfSquares: toDyadic(squares),
    histograms: [countHistogram(data, Math.max(-min, max))],
    channels: undefined,
  };
}

/** Counts and removes NaN and infinities. */
function sketchOfFinite(data: Float32Array): Sketch {
  const finite = data.filter(x => Number.isFinite(x));
  const nan = data.reduce((count, x) => count + (Number.isNaN(x) ? 1 : 0), 0);
  return { ...sketchTensor(finite), count: data.length, nan, infinite: data.length - finite.length - nan };
}

function countHistogram(data: Float32Array, limit: number): Histogram {
  const exponent = gridExponent(limit);
  return trimHistogram({ exponent, first: -ORIGIN, ...countBins(exponent, data) });
}

/** The sketch of both samples: commutative, associative, exact. @throws QuantError `channels-differ`. */
export function mergeSketches(a: Sketch, b: Sketch): Sketch {
  return {
    count: a.count + b.count,
    nan: a.nan + b.nan,
    infinite: a.infinite + b.infinite,
    zeros: a.zeros + b.zeros,
    min: pick(Math.min, a.min, b.min),
    max: pick(Math.max, a.max, b.max),
    leastMagnitude: pick(Math.min, a.leastMagnitude, b.leastMagnitude),
    sum: addDyadic(a.sum, b.sum),
    sumOfSquares: addDyadic(a.sumOfSquares, b.sumOfSquares),
    histograms: mergeHistograms(a.histograms, b.histograms),
    channels: mergeChannelRanges(a.channels, b.channels),
  };
}

function pick(choose: (a: number, b: number) => number, a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : choose(a, b);
}
