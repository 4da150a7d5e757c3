/** Operations on the rows of tensors, that is, along the first axis: repeat, slice with zero padding, concatenate. */
import { decodeRawTensor, encodeRawTensor, makeRawTensor } from './raw-tensor.js';
import { countElements } from './shape.js';
import type { Tensor } from './tensor.js';
import { TensorError } from './tensor-error.js';

/** The first `count` rows of `tensor`, repeated cyclically if it has fewer; shares memory if it has enough. @throws TensorError `no-rows` for scalars, strings, types under 8 bits, and tensors without rows. */
export function takeRows(tensor: Tensor, count: number): Tensor {
  const { bytes, width, rows } = rowsOf(tensor);
  if (count <= rows) return withRows(tensor, count, bytes.subarray(0, count * width));
  const taken = new Uint8Array(count * width);
  for (let row = 0; row < count; row++) taken.set(bytes.subarray((row % rows) * width, ((row % rows) + 1) * width), row * width);
  return withRows(tensor, count, taken);
}

/** Rows `start` … `start + count`; rows beyond the end are zeros. Shares memory if there are none. @throws TensorError `no-rows`. */
export function sliceRows(tensor: Tensor, start: number, count: number): Tensor {
  const { bytes, width, rows } = rowsOf(tensor);
  if (start + count <= rows) return withRows(tensor, count, bytes.subarray(start * width, (start + count) * width));
  const taken = new Uint8Array(count * width);
  taken.set(bytes.subarray(start * width, (start + count) * width));
  return withRows(tensor, count, taken);
}

/** The first `count` rows of the concatenation of `parts`, which must have equal dtypes and equal dims except the first. @throws TensorError `no-rows` otherwise, or if there are too few rows. */
export function joinRows(parts: readonly Tensor[], count: number): Tensor {
  const [first] = parts;
  if (first === undefined) throw new TensorError('no-rows', 'expected at least one tensor');
  const { width } = rowsOf(first);
  const taken = new Uint8Array(count * width);
  let at = 0;
  for (const part of parts) {
    const own = rowsOf(part);
    if (part.dtype !== first.dtype || own.width !== width)
      throw new TensorError('no-rows', 'the tensors have rows of different dtypes or sizes');
    taken.set(own.bytes.subarray(0, Math.min(own.bytes.length, taken.length - at)), at);
    at += own.bytes.length;
  }
  if (at < taken.length) throw new TensorError('no-rows', `expected ${count} rows, found ${at / width}`);
  return withRows(first, count, taken);
}

function rowsOf(tensor: Tensor): { readonly bytes: Uint8Array; readonly width: number; readonly rows: number } {
  const [rows = 0] = tensor.dims;
  if (tensor.dtype === 'string' || rows === 0 || tensor.data.length < countElements(tensor.dims)) {
    throw new TensorError('no-rows', `a ${tensor.dtype} tensor [${tensor.dims.join(', ')}] has no rows`);
  }
  const { bytes } = encodeRawTensor(tensor);
  return { bytes, width: bytes.byteLength / rows, rows };
}

function withRows(tensor: Tensor, count: number, bytes: Uint8Array): Tensor {
  if (tensor.dtype === 'string') throw new TensorError('no-rows', 'rows of string tensors are not supported');
  return decodeRawTensor(makeRawTensor(tensor.dtype, [count, ...tensor.dims.slice(1)], bytes));
}
