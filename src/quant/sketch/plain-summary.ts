/** What do the elements of a tensor add up to? In plain code: the definition of every figure, which summary-kernel.ts gives to the same bits, faster. */
import { BITS, OFFSET_BITS } from './histogram.js';

/** Running figures of finite elements. With NaN or an infinity among them, a sum is not finite, and nothing else means anything. */
export interface Lanes {
  /** Order keys (see `toOrderKey`) of the least and the greatest element, and of the least magnitude. */
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
 * Adds `data`, whose first element belongs to lane 0. Least and greatest are found among the bits read as integers, in the order of the numbers: float comparisons
 * of activations, of which half are often 0, cost several times as much.
 */
export function addPlainly(lanes: Lanes, data: Float32Array): void {
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

/** An integer that is less for the bits of the lesser float32; −0 comes before 0. Its own inverse. */
export function toOrderKey(bits: number): number {
  return bits ^ ((bits >> 31) & 0x7fffffff);
}

/** Bins of one grid, while they are counted: bin 0 stands at index ORIGIN. */
export interface OpenBins {
  readonly counts: Float64Array;
  readonly offsets: Float64Array;
}

export const ORIGIN = 2 ** BITS;
export const BINS = 2 * ORIGIN + 1;

export function newBins(): OpenBins {
  return { counts: new Float64Array(BINS), offsets: new Float64Array(BINS) };
}

/** Taken out of the global object once: a look-up per element is slow where globals are intercepted. */
const { floor } = Math;

/** Adds `data`, finite elements that the grid holds. */
export function countPlainly({ counts, offsets }: OpenBins, exponent: number, data: Float32Array): void {
  const perUnit = 2 ** (OFFSET_BITS - exponent);
  const [origin, mask] = [ORIGIN << OFFSET_BITS, 2 ** OFFSET_BITS - 1];
  for (let i = 0; i < data.length; i++) {
    const units = origin + (floor((data[i] as number) * perUnit) | 0);
    const bin = units >> OFFSET_BITS;
    counts[bin] = (counts[bin] as number) + 1;
    offsets[bin] = (offsets[bin] as number) + (units & mask);
  }
}
