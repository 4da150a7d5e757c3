/** What is a tensor? A dtype, a shape, and its elements in row-major order in one typed array. */
import { byteLength, type DType } from './dtype.js';
import { countElements, formatShape, type Shape } from './shape.js';
import { TensorError } from './tensor-error.js';

/** The array that holds a dtype's elements. 16-bit floats are their bits; 8-bit floats and packed types are raw bytes; complex numbers are re, im pairs. */
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

/** The array is the tensor's: whoever makes a tensor gives it away, whoever reads one does not write to it. */
export type Tensor<D extends DType = DType> = { [K in D]: { readonly dtype: K; readonly dims: Shape; readonly data: DataOf[K] } }[D];

/** A tensor as it lies in a file: little-endian bytes, row-major, packed where the dtype is under 8 bits. Cheap to slice out of a large buffer; never strings. */
export interface RawTensor {
  readonly dtype: Exclude<DType, 'string'>;
  readonly dims: Shape;
  readonly bytes: Uint8Array;
}

/** @throws TensorError `length-mismatch` where `data` does not hold exactly `dims` elements. */
export function makeTensor<D extends DType>(dtype: D, dims: Shape, data: DataOf[D]): Tensor<D> {
  const expected = expectedLength(dtype, countElements(dims));
  if (data.length !== expected) {
    throw new TensorError('length-mismatch', `a ${dtype} tensor ${formatShape(dims)} needs ${expected} array elements, got ${data.length}`);
  }
  return { dtype, dims, data } as unknown as Tensor<D>;
}

function expectedLength(dtype: DType, count: number): number {
  if (dtype === 'complex64' || dtype === 'complex128') return 2 * count;
  return dtype === 'uint4' || dtype === 'int4' || dtype === 'float4e2m1' || dtype === 'uint2' || dtype === 'int2'
    ? byteLength(dtype, count)
    : count;
}
