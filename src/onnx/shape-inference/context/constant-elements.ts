/** Elements of small constants that describe shapes, axes, pads and scales. */
import { decodeRawTensor } from '../../../tensor/raw-tensor.js';
import type { Constant } from '../../ir/model.js';

/** Larger constants are data, not shapes. */
const MAX_ELEMENTS = 4096;

const INTEGERS = new Set(['int64', 'int32', 'int16', 'int8', 'uint8', 'uint16', 'uint32', 'uint64', 'bool']);
const FLOATS = new Set(['float32', 'float64']);

/** The elements of an integer constant of rank 0 or 1; int64 values outside the safe integers are clamped. */
export function findIntegers(constant: Constant | undefined): readonly number[] | undefined {
  if (constant === undefined || !INTEGERS.has(constant.dtype) || constant.dims.length > 1) return undefined;
  return readNumbers(constant);
}

/** The elements of a float32 or float64 constant of rank 0 or 1. */
export function findFloats(constant: Constant | undefined): readonly number[] | undefined {
  if (constant === undefined || !FLOATS.has(constant.dtype) || constant.dims.length > 1) return undefined;
  return readNumbers(constant);
}

function readNumbers(constant: Constant): readonly number[] | undefined {
  if (constant.dtype === 'string' || (constant.dims[0] ?? 1) > MAX_ELEMENTS) return undefined;
  const { data } = decodeRawTensor(constant);
  return Array.from(data as ArrayLike<number | bigint>, clampToSafe);
}

/** The nearest safe integer: the extremes of int64 mean "to the end" in Slice. */
export function clampToSafe(value: number | bigint): number {
  if (typeof value === 'number') return value;
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) return Number.MAX_SAFE_INTEGER;
  return value < BigInt(Number.MIN_SAFE_INTEGER) ? Number.MIN_SAFE_INTEGER : Number(value);
}
