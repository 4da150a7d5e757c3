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
  const sums = addUp(data);
  // A sum of finite float32 numbers cannot overflow in double, and NaN or infinity stays in it.
  return Number.isFinite(sums.sum) ? fromSums(data, sums) : sketchOfFinite(data);
}

/** NaN and infinities are counted and taken out. */
function sketchOfFinite(data: Float32Array): Sketch {
  const finite = data.filter(x => Number.isFinite(x));
  const nan = data.reduce((count, x) => count + (Number.isNaN(x) ? 1 : 0), 0);
  return { ...fromSums(finite, addUp(finite)), count: data.length, nan, infinite: data.length - finite.length - nan };
}

interface Sums {
  readonly min: number;
  readonly max: number;
  readonly zeros: number;
  readonly sum: number;
  readonly squares: number;
}

/**
 * One pass. Least and greatest are found among the bits read as integers, in the order of the numbers: float comparisons of activations, of which half are
 * often 0, cost several times as much.
 */
function addUp(data: Float32Array): Sums {
  const bits = new Int32Array(data.buffer, data.byteOffset, data.length);
  let [least, greatest] = [0x7fffffff, -0x80000000];
  let [nonZeros, sum, squares] = [0, 0, 0];
  for (let i = 0; i < data.length; i++) {
    const bit = bits[i] as number;
    const key = toOrderKey(bit);
    if (key < least) least = key;
    if (key > greatest) greatest = key;
    const magnitude = bit << 1;
    nonZeros += (magnitude | -magnitude) >>> 31;
    const x = data[i] as number;
    sum += x;
    squares += x * x;
  }
  return { min: fromOrderKey(least), max: fromOrderKey(greatest), zeros: data.length - nonZeros, sum, squares };
}

/** An integer that is less for the bits of the lesser float32; −0 comes before 0. Its own inverse. */
function toOrderKey(bits: number): number {
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

const number = new DataView(new ArrayBuffer(4));

function fromOrderKey(key: number): number {
  number.setInt32(0, toOrderKey(key));
  return number.getFloat32(0);
}

function fromSums(finite: Float32Array, { min, max, zeros, sum, squares }: Sums): Sketch {
  if (finite.length === 0) return EMPTY_SKETCH;
  return {
    count: finite.length,
    nan: 0,
    infinite: 0,
    zeros,
    min: min + 0,
    max: max + 0,
    sum: toDyadic(sum),
    sumOfSquares: toDyadic(squares),
    histogram: countHistogram(finite, Math.max(-min, max)),
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
