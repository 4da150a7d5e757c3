/** The tensor types: dtype, shape, and elements in row-major order, as a typed array or as raw bytes. */
import { byteLength, type DType } from './dtype.js';
import { countElements, formatShape, type Shape } from './shape.js';
import { TensorError } from './tensor-error.js';

/** The typed array for each dtype. 16-bit floats are stored as bits, 8-bit floats and packed types as raw bytes, complex numbers as re, im pairs. */
export interface DataOf {
  readonly float32: Float32Array;
  readonly float64: Float64Array;
  readonly float16: Uint16Array;
  readonly bfloat16: Uint16Array;
  readonly int8: Int8Array;
  readonly uint8: Uint8Array;
  readonly int16: Int16Array;
  readonly uint16: Uint16Array;
  readonly int32: Int32Array;
  readonly uint32: Uint32Array;
  readonly int64: BigInt64Array;
  readonly uint64: BigUint64Array;
  readonly bool: Uint8Array;
  readonly string: readonly string[];
  readonly complex64: Float32Array;
  readonly complex128: Float64Array;
  readonly float8e4m3fn: Uint8Array;
  readonly float8e4m3fnuz: Uint8Array;
  readonly float8e5m2: Uint8Array;
  readonly float8e5m2fnuz: Uint8Array;
  readonly float8e8m0: Uint8Array;
  readonly uint4: Uint8Array;
  readonly int4: Uint8Array;
  readonly float4e2m1: Uint8Array;
  readonly uint2: Uint8Array;
  readonly int2: Uint8Array;
}

/** The tensor owns the array: its creator no longer uses it, and readers do not write to it. */
export type Tensor<D extends DType = DType> = { [K in D]: { readonly dtype: K; readonly dims: Shape; readonly data: DataOf[K] } }[D];

/** A tensor in file form: little-endian bytes, row-major, packed for dtypes under 8 bits. Never strings. Cheap to slice out of a large buffer. */
export interface RawTensor {
  readonly dtype: Exclude<DType, 'string'>;
  readonly dims: Shape;
  readonly bytes: Uint8Array;
}

/** @throws TensorError `length-mismatch` if the length of `data` does not match `dims`. */
export function makeTensor<D extends DType>(dtype: D, dims: Shape, data: DataOf[D]): Tensor<D> {
  const expected = expectedLength(dtype, countElements(dims));
  if (data.length !== expected) {
    throw new TensorError('length-mismatch', `a ${dtype} tensor ${formatShape(dims)} needs ${expected} array elements, got ${data.length}`);
  }
  // The compiler does not relate D to the type of `data`; the parameters do.
  return { dtype, dims, data } as unknown as Tensor<D>;
}

function expectedLength(dtype: DType, count: number): number {
  if (dtype === 'complex64' || dtype === 'complex128') return 2 * count;
  return dtype === 'uint4' || dtype === 'int4' || dtype === 'float4e2m1' || dtype === 'uint2' || dtype === 'int2'
    ? byteLength(dtype, count)
    : count;
}
