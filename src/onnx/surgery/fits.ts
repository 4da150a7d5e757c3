/** Can a value take the place of another? Element types must be the same, and sizes where both are known. */

import type { Dim, ValueType } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { describeType } from '../text/describe-type.js';

/** @throws OnnxError `type-mismatch`. `what` says which two values meet. */
export function assertFits(given: ValueType | undefined, wanted: ValueType | undefined, what: string): void {
  if (given === undefined || wanted === undefined || fits(given, wanted)) return;
  throw new OnnxError('type-mismatch', `${what}: ${describeType(given)} is given where ${describeType(wanted)} is read`);
}

function fits(given: ValueType, wanted: ValueType): boolean {
  if (given.kind === 'other' || wanted.kind === 'other')
    return given.kind === 'other' && wanted.kind === 'other' && Buffer.compare(given.bytes, wanted.bytes) === 0;
  if (given.dtype !== undefined && wanted.dtype !== undefined && given.dtype !== wanted.dtype) return false;
  if (given.dims === undefined || wanted.dims === undefined) return true;
  return given.dims.length === wanted.dims.length && given.dims.every((dim, axis) => mayEqual(dim, wanted.dims?.[axis]));
}

const mayEqual = (a: Dim, b: Dim): boolean => typeof a !== 'number' || typeof b !== 'number' || a === b;
