/** What do we keep of an activation tensor? A summary of bounded size that merges over samples in any order to the same bytes. */
import { addDyadic, type Dyadic, toDyadic, ZERO } from './exact-sum.js';
import { countHistogram, EMPTY_HISTOGRAM, type Histogram, mergeHistograms } from './histogram.js';

export interface Sketch {
  /** All elements, finite or not. */
  readonly count: number;
  readonly nan: number;
  readonly infinite: number;
  /** Elements that are 0 or −0. */
  readonly zeros: number;
  /** Least and greatest finite element, exact float32 numbers (−0 is 0); undefined where there is none. */
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** Sum of the finite elements: each sample's in double in memory order, samples added exactly, so that their order does not matter. */
  readonly sum: Dyadic;
  /** Sum of their squares, in the same way. */
  readonly sumOfSquares: Dyadic;
  readonly histogram: Histogram;
}

export const EMPTY_SKETCH: Sketch = {
  count: 0,
  nan: 0,
  infinite: 0,
  zeros: 0,
  min: undefined,
  max: undefined,
  sum: ZERO,
  sumOfSquares: ZERO,
  histogram: EMPTY_HISTOGRAM,
};

/** The summary of one sample's tensor. Two passes over `data`; nothing of it is kept. */
export function sketchTensor(data: Float32Array): Sketch {
  let [nan, infinite, zeros] = [0, 0, 0];
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [sum, squares] = [0, 0];
  for (let i = 0; i < data.length; i++) {
    const x = data[i] as number;
    if (x - x !== 0) {
      if (Number.isNaN(x)) nan++;
      else infinite++;
      continue;
    }
    if (x === 0) zeros++;
    if (x < min) min = x;
    if (x > max) max = x;
    sum += x;
    squares += x * x;
  }
  const finite = data.length - nan - infinite;
  if (finite === 0) return { ...EMPTY_SKETCH, count: data.length, nan, infinite };
  return {
    count: data.length,
    nan,
    infinite,
    zeros,
    min: min + 0,
    max: max + 0,
    sum: toDyadic(sum),
    sumOfSquares: toDyadic(squares),
    histogram: countHistogram(data, Math.max(-min, max)),
  };
}

/** The summary of both samples: commutative, associative, exact. */
export function mergeSketches(a: Sketch, b: Sketch): Sketch {
  return {
    count: a.count + b.count,
    nan: a.nan + b.nan,
    infinite: a.infinite + b.infinite,
    zeros: a.zeros + b.zeros,
    min: pick(Math.min, a.min, b.min),
    max: pick(Math.max, a.max, b.max),
    sum: addDyadic(a.sum, b.sum),
    sumOfSquares: addDyadic(a.sumOfSquares, b.sumOfSquares),
    histogram: mergeHistograms(a.histogram, b.histogram),
  };
}

function pick(choose: (a: number, b: number) => number, a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : choose(a, b);
}
