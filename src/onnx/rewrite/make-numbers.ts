/** Conversion of a list of numbers to a constant of a given dtype: floats are rounded, integers out of range are rejected. */
import type { DType } from '../../tensor/dtype.js';
import { encodeBfloat16Array, encodeFloat16Array } from '../../tensor/numeric/half.js';
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import { countElements, formatShape, type Shape } from '../../tensor/shape.js';
import { makeTensor } from '../../tensor/tensor.js';
import type { Constant } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';

const RANGES: Partial<Readonly<Record<DType, readonly [number, number]>>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int16: [-32768, 32767],
  uint16: [0, 65535],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  uint64: [0, Number.MAX_SAFE_INTEGER],
  bool: [0, 1],
};

/** @throws OnnxError `bad-edit` if the number of values does not match `dims`, a value is out of range, or the dtype cannot be given as numbers. */
export function makeNumbers(dtype: DType, dims: Shape, values: readonly number[]): Constant {
  if (countElements(dims) !== values.length)
    throw new OnnxError(
      'bad-edit',
      `a constant of shape ${formatShape(dims)} needs ${countElements(dims)} values, ${values.length} are given`,
    );
  const range = RANGES[dtype];
  const outOfRange = range && values.find(value => !Number.isInteger(value) || value < range[0] || value > range[1]);
  if (outOfRange !== undefined) throw new OnnxError('bad-edit', `${outOfRange} is not a valid ${dtype}`);
  switch (dtype) {
    case 'float32':
      return encodeRawTensor(makeTensor(dtype, dims, Float32Array.from(values)));
    case 'float64':
      return encodeRawTensor(makeTensor(dtype, dims, Float64Array.from(values)));
    case 'float16':
      return encodeRawTensor(makeTensor(dtype, dims, encodeFloat16Array(values)));
    case 'bfloat16':
      return encodeRawTensor(makeTensor(dtype, dims, encodeBfloat16Array(values)));
    case 'int8':
      return encodeRawTensor(makeTensor(dtype, dims, Int8Array.from(values)));
    case 'uint8':
    case 'bool':
      return encodeRawTensor(makeTensor(dtype, dims, Uint8Array.from(values)));
    case 'int16':
      return encodeRawTensor(makeTensor(dtype, dims, Int16Array.from(values)));
    case 'uint16':
      return encodeRawTensor(makeTensor(dtype, dims, Uint16Array.from(values)));
    case 'int32':
      return encodeRawTensor(makeTensor(dtype, dims, Int32Array.from(values)));
    case 'uint32':
      return encodeRawTensor(makeTensor(dtype, dims, Uint32Array.from(values)));
    case 'int64':
      return encodeRawTensor(makeTensor(dtype, dims, BigInt64Array.from(values, BigInt)));
    case 'uint64':
      return encodeRawTensor(makeTensor(dtype, dims, BigUint64Array.from(values, BigInt)));
    default:
      throw new OnnxError('bad-edit', `constants of ${dtype} cannot be given as numbers`);
  }
}
