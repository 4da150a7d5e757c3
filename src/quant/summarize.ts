/** What do the elements of one tensor add up to? In plain code: the definition of every figure, to which faster code is held. */
import { OFFSET_BITS } from './histogram.js';

/** Of finite elements, at least one. */
export interface Moments {
  readonly min: number;
  readonly max: number;
  readonly leastMagnitude: number;
  /** Elements that are 0 or −0. */
  readonly zeros: number;
  /** In double: element i is added to sum i mod 4, in order, and the four sums are added as (0 + 1) + (2 + 3). */
  readonly sum: number;
  /** Of the squares, in the same way. */
  readonly squares: number;
}

/**
 * One pass. Least and greatest are found among the bits read as integers, in the order of the numbers: float comparisons of activations, of which half are
 * often 0, cost several times as much. With NaN or an infinity among the elements, `sum` is not finite, and nothing else means anything.
 */
export function addUp(data: Float32Array): Moments {
  const bits = new Int32Array(data.buffer, data.byteOffset, data.length);
  let [least, greatest, smallest, nonZeros] = [0x7fffffff, -0x80000000, 0x7fffffff, 0];
  const sums = new Float64Array(4);
  const squares = new Float64Array(4);
  for (let i = 0; i < data.length; i++) {
    const bit = bits[i] as number;
    const key = toOrderKey(bit);
    if (key < least) least = key;
    if (key > greatest) greatest = key;
    const magnitude = bit & 0x7fffffff;
    if (magnitude < smallest) smallest = magnitude;
    nonZeros += -magnitude >>> 31;
    const x = data[i] as number;
    const lane = i & 3;
    sums[lane] = (sums[lane] as number) + x;
    squares[lane] = (squares[lane] as number) + x * x;
  }
  return {
    min: fromOrderKey(least) + 0,
    max: fromOrderKey(greatest) + 0,
    leastMagnitude: fromOrderKey(smallest),
    zeros: data.length - nonZeros,
    sum: addLanes(sums),
    squares: addLanes(squares),
  };
}

export function addLanes([a = 0, b = 0, c = 0, d = 0]: ArrayLike<number> & Iterable<number>): number {
  return a + b + (c + d);
}

/** An integer that is less for the bits of the lesser float32; −0 comes before 0. Its own inverse. */
function toOrderKey(bits: number): number {
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

const number = new DataView(new ArrayBuffer(4));

export function fromOrderKey(key: number): number {
  number.setInt32(0, toOrderKey(key));
  return number.getFloat32(0);
}

/** Taken out of the global object once: a look-up per element is slow where globals are intercepted. */
const { floor } = Math;

/** Adds `data` to the bins of the grid, of which bin 0 stands at index `origin`. @param data finite elements whose bins are all inside the arrays. */
export function countInto(
  { counts, offsets }: { readonly counts: Float64Array; readonly offsets: Float64Array },
  origin: number,
  exponent: number,
  data: Float32Array,
): void {
  const perUnit = 2 ** (OFFSET_BITS - exponent);
  const [unitsPerBin, mask] = [2 ** OFFSET_BITS, 2 ** OFFSET_BITS - 1];
  const shift = origin * unitsPerBin;
  for (let i = 0; i < data.length; i++) {
    const units = shift + (floor((data[i] as number) * perUnit) | 0);
    const bin = units >> OFFSET_BITS;
    counts[bin] = (counts[bin] as number) + 1;
    offsets[bin] = (offsets[bin] as number) + (units & mask);
  }
}
