/** Scalar summary of a tensor: minimum, maximum, sums and histogram counts. summary-kernel.ts gives the same bits faster. */
import { BITS, OFFSET_BITS } from './histogram.js';

/** Running results over finite elements. If an element is NaN or infinite, a sum is not finite, and the other members are undefined. */
export interface Lanes {
  /** Order keys (see `toOrderKey`) of the smallest and the largest element and of the smallest magnitude. */
  least: number;
  greatest: number;
  smallest: number;
  zeros: number;
  /** In double: element i is added to sum i mod 4, in order. */
  readonly sums: Float64Array;
  readonly squares: Float64Array;
}

export function newLanes(): Lanes {
  const [least, greatest, smallest] = [0x7fffffff, -0x80000000, 0x7fffffff];
  return { least, greatest, smallest, zeros: 0, sums: new Float64Array(4), squares: new Float64Array(4) };
}

/**
 * Adds `data`; its first element belongs to lane 0. Minimum and maximum compare the bits as integers in the order of the floats:
 * float comparisons are several times slower on activations, of which half are often 0.
 */
export function addScalar(lanes: Lanes, data: Float32Array): void {
  const bits = new Int32Array(data.buffer, data.byteOffset, data.length);
  const { sums, squares } = lanes;
  let { least, greatest, smallest, zeros } = lanes;
  for (let i = 0; i < data.length; i++) {
    const bit = bits[i] as number;
    const key = toOrderKey(bit);
    if (key < least) least = key;
    if (key > greatest) greatest = key;
    const magnitude = bit & 0x7fffffff;
    if (magnitude < smallest) smallest = magnitude;
    if (magnitude === 0) zeros++;
    const x = data[i] as number;
    const lane = i & 3;
    sums[lane] = (sums[lane] as number) + x;
    squares[lane] = (squares[lane] as number) + x * x;
  }
  Object.assign(lanes, { least, greatest, smallest, zeros });
}

/** An integer that sorts as the float32 with these bits; −0 comes before 0. The function is its own inverse. */
export function toOrderKey(bits: number): number {
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

/** Untrimmed bins of one grid: bin 0 is at index ORIGIN. */
export interface OpenBins {
  readonly counts: Float64Array;
  readonly offsets: Float64Array;
}

export const ORIGIN = 2 ** BITS;
export const BINS = 2 * ORIGIN + 1;

export function newBins(): OpenBins {
  return { counts: new Float64Array(BINS), offsets: new Float64Array(BINS) };
}

/** A local constant: looking up a global per element is slow where globals are intercepted, as in jest. */
const { floor } = Math;

/** Counts `data`: finite elements inside the grid. */
export function countScalar({ counts, offsets }: OpenBins, exponent: number, data: Float32Array): void {
  const perUnit = 2 ** (OFFSET_BITS - exponent);
  const [origin, mask] = [ORIGIN << OFFSET_BITS, 2 ** OFFSET_BITS - 1];
  for (let i = 0; i < data.length; i++) {
    const units = origin + (floor((data[i] as number) * perUnit) | 0);
    const bin = units >> OFFSET_BITS;
    counts[bin] = (counts[bin] as number) + 1;
    offsets[bin] = (offsets[bin] as number) + (units & mask);
  }
}
