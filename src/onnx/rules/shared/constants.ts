/** Float32 and int64 constants of patches, and reading of constants in rules. */
import { decodeRawTensor, encodeRawTensor } from '../../../tensor/raw-tensor.js';
import { makeTensor, type Tensor } from '../../../tensor/tensor.js';
import type { Constant } from '../../ir/model.js';
import { type NewConstant, newConstant } from '../../rewrite/patch.js';

/** An int64 vector: axes, shapes, starts, ends. */
export function newInts(name: string, values: readonly (number | bigint)[]): NewConstant {
  return newConstant(name, encodeRawTensor(makeTensor('int64', [values.length], BigInt64Array.from(values, BigInt))));
}

/** A float32 constant; a scalar if `dims` is empty. */
export function newFloats(name: string, dims: readonly number[], values: Iterable<number>): NewConstant {
  return newConstant(name, encodeRawTensor(makeTensor('float32', dims, Float32Array.from(values))));
}

/** A float32 constant as a tensor; undefined for other dtypes. */
export function findFloat32(constant: Constant | undefined): Tensor<'float32'> | undefined {
  return constant?.dtype === 'float32' ? decodeRawTensor({ ...constant, dtype: 'float32' }) : undefined;
}

/** The value of a float32 constant of one element. */
export function findNumber(constant: Constant | undefined): number | undefined {
  const floats = findFloat32(constant);
  return floats?.data.length === 1 ? floats.data[0] : undefined;
}

/** Whether a bias is [N] or [1, N], one value per column. Gemm also broadcasts other shapes: [M, 1] is one value per row. */
export function isRow(dims: readonly number[], columns: number): boolean {
  return dims.length >= 1 && dims.length <= 2 && dims.at(-1) === columns && dims.slice(0, -1).every(dim => dim === 1);
}
