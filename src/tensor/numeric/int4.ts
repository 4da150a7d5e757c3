/** Packed 4-bit and 2-bit integers, with the first element in the low bits (ONNX TensorProto). */
import { byteLength, DTYPES } from '../dtype.js';
import { TensorError } from '../tensor-error.js';

export type PackedInt = 'int4' | 'uint4' | 'int2' | 'uint2';

/** Unpacks `count` integers, one per element. @throws TensorError `length-mismatch` if the length of `bytes` does not match. */
export function unpackInts(dtype: 'int4' | 'int2', bytes: Uint8Array, count: number): Int8Array;
export function unpackInts(dtype: 'uint4' | 'uint2', bytes: Uint8Array, count: number): Uint8Array;
export function unpackInts(dtype: PackedInt, bytes: Uint8Array, count: number): Int8Array | Uint8Array;
export function unpackInts(dtype: PackedInt, bytes: Uint8Array, count: number): Int8Array | Uint8Array {
  const expected = byteLength(dtype, count);
  if (bytes.length !== expected) {
    throw new TensorError('length-mismatch', `${count} ${dtype} elements need ${expected} bytes, got ${bytes.length}`);
  }
  const { bits } = DTYPES[dtype];
  const perByte = 8 / bits;
  const isSigned = dtype === 'int4' || dtype === 'int2';
  const values = isSigned ? new Int8Array(count) : new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const raised = ((bytes[Math.floor(i / perByte)] ?? 0) << (32 - bits * ((i % perByte) + 1))) | 0;
    values[i] = isSigned ? raised >> (32 - bits) : raised >>> (32 - bits);
  }
  return values;
}

/** Packs integers; bits after the last element are zero. @throws TensorError `value-range` for a number outside the range of the dtype. */
export function packInts(dtype: PackedInt, values: ArrayLike<number>): Uint8Array {
  const { bits } = DTYPES[dtype];
  const perByte = 8 / bits;
  const [low, high] = dtype === 'int4' || dtype === 'int2' ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
  const bytes = new Uint8Array(byteLength(dtype, values.length));
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0;
    if (!Number.isInteger(value) || value < low || value > high) {
      throw new TensorError('value-range', `element ${i} is ${value}, outside the range ${low} to ${high} of ${dtype}`);
    }
    const at = Math.floor(i / perByte);
    bytes[at] = (bytes[at] ?? 0) | ((value & (2 ** bits - 1)) << (bits * (i % perByte)));
  }
  return bytes;
}
