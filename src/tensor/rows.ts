/** How is the first axis of a tensor made longer or shorter? Row by row, from the front, again from the front where it ends, or with zeros. */
import { decodeRawTensor, encodeRawTensor, makeRawTensor } from './raw-tensor.js';
import { countElements } from './shape.js';
import type { Tensor } from './tensor.js';
import { TensorError } from './tensor-error.js';

/** `count` rows of `tensor`, repeated from the first where it has fewer; shares its memory where it has enough. @throws TensorError `no-rows` for scalars, strings, types under 8 bits, and tensors without rows. */
export function takeRows(tensor: Tensor, count: number): Tensor {
  const { bytes, width, rows } = rowsOf(tensor);
  if (count <= rows) return withRows(tensor, count, bytes.subarray(0, count * width));
  const taken = new Uint8Array(count * width);
  for (let row = 0; row < count; row++) taken.set(bytes.subarray((row % rows) * width, ((row % rows) + 1) * width), row * width);
  return withRows(tensor, count, taken);
}

/** Rows `start` … `start + count`; what lies beyond the end is zeros. Shares its memory where nothing does. @throws TensorError `no-rows`. */
export function sliceRows(tensor: Tensor, start: number, count: number): Tensor {
  const { bytes, width, rows } = rowsOf(tensor);
  if (start + count <= rows) return withRows(tensor, count, bytes.subarray(start * width, (start + count) * width));
  const taken = new Uint8Array(count * width);
  taken.set(bytes.subarray(start * width, (start + count) * width));
  return withRows(tensor, count, taken);
}

/** The rows of `parts` one after the other, the first `count` of them. All have the first one's dtype and sizes but the first. @throws TensorError `no-rows` where they have not, or too few rows. */
export function joinRows(parts: readonly Tensor[], count: number): Tensor {
  const [first] = parts;
  if (first === undefined) throw new TensorError('no-rows', 'there is no tensor to take rows of');
  const { width } = rowsOf(first);
  const taken = new Uint8Array(count * width);
  let at = 0;
  for (const part of parts) {
    const own = rowsOf(part);
    if (part.dtype !== first.dtype || own.width !== width) throw new TensorError('no-rows', 'tensors of different rows are joined');
    taken.set(own.bytes.subarray(0, Math.min(own.bytes.length, taken.length - at)), at);
    at += own.bytes.length;
  }
  if (at < taken.length) throw new TensorError('no-rows', `${count} rows are wanted, there are ${at / width}`);
  return withRows(first, count, taken);
}

function rowsOf(tensor: Tensor): { readonly bytes: Uint8Array; readonly width: number; readonly rows: number } {
  const [rows = 0] = tensor.dims;
  if (tensor.dtype === 'string' || rows === 0 || tensor.data.length < countElements(tensor.dims)) {
    throw new TensorError('no-rows', `a ${tensor.dtype} tensor [${tensor.dims.join(', ')}] has no rows to take`);
  }
  const { bytes } = encodeRawTensor(tensor);
  return { bytes, width: bytes.byteLength / rows, rows };
}

function withRows(tensor: Tensor, count: number, bytes: Uint8Array): Tensor {
  if (tensor.dtype === 'string') throw new TensorError('no-rows', 'a string tensor has no rows to take');
  return decodeRawTensor(makeRawTensor(tensor.dtype, [count, ...tensor.dims.slice(1)], bytes));
}
