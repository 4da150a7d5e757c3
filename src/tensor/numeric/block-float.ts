/** BFP16: blocks of eight numbers that share an exponent, 8 bits each. */
import { roundHalfEven } from '../../base/round-half-even.js';
import { countElements, type Shape } from '../shape.js';

export const BLOCK_SIZE = 8;

/** Bits of a number in its block, without the sign. */
const BITS = 7;

/** The least exponent of a normal float32: blocks of smaller numbers keep it. */
const LEAST_EXPONENT = -127;

/**
 * Rounds each block of eight elements along `axis` to multiples of a power of two: 2^(E − 6), where 2^E is the largest power of two not above the
 * block's largest magnitude. Halves go to even, and magnitudes are at most 127 multiples. Infinities and NaN stay, and do not count as the largest.
 * The last block is shorter if the axis is no multiple of eight. Tensors without the axis are one block per eight elements of the last axis, if any.
 * @see AMD Quark, BFPQuantizeDequantize with `to_bfp`, bit_width 16, block_size 8, rounding_mode 2.
 */
export function roundToBfp16(values: Float32Array, dims: Shape, axis = 1): Float32Array {
  const along = Math.min(axis, Math.max(dims.length - 1, 0));
  const count = dims[along] ?? 1;
  const inner = countElements(dims.slice(along + 1));
  const rounded = Float32Array.from(values);
  for (let start = 0; start < values.length; start += count * inner)
    for (let from = 0; from < count; from += BLOCK_SIZE)
      for (let i = 0; i < inner; i++) roundBlock(rounded, start + from * inner + i, inner, Math.min(BLOCK_SIZE, count - from));
  return rounded;
}

/** Elements at `first`, `first + step`, … */
function roundBlock(values: Float32Array, first: number, step: number, count: number): void {
  let largest = 0;
  for (let i = 0; i < count; i++) {
    const magnitude = Math.abs(values[first + i * step] as number);
    if (Number.isFinite(magnitude) && magnitude > largest) largest = magnitude;
  }
  const unit = 2 ** (exponentOf(largest) - (BITS - 1));
  const most = 2 ** BITS - 1;
  for (let i = 0; i < count; i++) {
    const at = first + i * step;
    const value = values[at] as number;
    if (Number.isFinite(value)) values[at] = Math.min(Math.max(roundHalfEven(value / unit), -most), most) * unit;
  }
}

/** The exponent of a float32 number; −127 for zero and subnormal numbers, whose exponent bits are 0. */
function exponentOf(magnitude: number): number {
  const bits = new DataView(new ArrayBuffer(4));
  bits.setFloat32(0, magnitude);
  return Math.max((bits.getUint32(0) >>> 23) - 127, LEAST_EXPONENT);
}
