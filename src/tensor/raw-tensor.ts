/** Conversion between raw bytes and typed tensors, as a view if the alignment allows it, else by one copy. */
import { endianness } from 'node:os';
import { byteLength } from './dtype.js';
import { countElements, formatShape } from './shape.js';
import { type DataOf, makeTensor, type RawTensor, type Tensor } from './tensor.js';
import { TensorError } from './tensor-error.js';

type Numeric = Exclude<keyof DataOf, 'string'>;
type NumericArray = DataOf[Numeric];
interface ArrayType {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): NumericArray;
}

const ARRAYS: Readonly<Record<Numeric, ArrayType>> = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
  complex64: Float32Array,
  complex128: Float64Array,
  float8e4m3fn: Uint8Array,
  float8e4m3fnuz: Uint8Array,
  float8e5m2: Uint8Array,
  float8e5m2fnuz: Uint8Array,
  float8e8m0: Uint8Array,
  uint4: Uint8Array,
  int4: Uint8Array,
  float4e2m1: Uint8Array,
  uint2: Uint8Array,
  int2: Uint8Array,
};

/** @throws TensorError `length-mismatch` if the length of `bytes` does not match dtype and dims. */
export function makeRawTensor(dtype: RawTensor['dtype'], dims: RawTensor['dims'], bytes: Uint8Array): RawTensor {
  const expected = byteLength(dtype, countElements(dims));
  if (bytes.byteLength !== expected) {
    throw new TensorError('length-mismatch', `a ${dtype} tensor ${formatShape(dims)} needs ${expected} bytes, got ${bytes.byteLength}`);
  }
  return { dtype, dims, bytes };
}

/** The typed form of `raw`. It shares memory if the bytes are aligned; otherwise they are copied. */
export function decodeRawTensor<D extends RawTensor['dtype']>(raw: RawTensor & { readonly dtype: D }): Tensor<D> {
  const type = ARRAYS[raw.dtype];
  const size = type.BYTES_PER_ELEMENT;
  const { bytes: given } = raw;
  const bytes = given.byteOffset % size === 0 ? given : new Uint8Array(given);
  const data = new type(bytes.buffer, bytes.byteOffset, bytes.byteLength / size);
  // `type` is the array type of D.
  return makeTensor(raw.dtype as D, raw.dims, data as unknown as DataOf[D]);
}

/** The raw form of `tensor`, sharing its memory. @throws TensorError `no-raw-form` for strings. */
export function encodeRawTensor(tensor: Tensor): RawTensor {
  if (tensor.dtype === 'string') throw new TensorError('no-raw-form', 'a string tensor has no raw bytes');
  const { buffer, byteOffset, byteLength: length } = tensor.data;
  return makeRawTensor(tensor.dtype, tensor.dims, new Uint8Array(buffer, byteOffset, length));
}

if (endianness() !== 'LE') throw new TensorError('big-endian', 'tensors are little-endian, but this machine is big-endian');
