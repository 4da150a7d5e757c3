/** Compatibility check of two value types: equal dtypes, and equal dims where both are known. */

import type { Dim, ValueType } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { describeType } from '../text/describe-type.js';

/** @throws OnnxError `type-mismatch`. `what` names the two values. */
export function assertCompatible(given: ValueType | undefined, wanted: ValueType | undefined, what: string): void {
  if (given === undefined || wanted === undefined || areCompatible(given, wanted)) return;
  throw new OnnxError('type-mismatch', `${what}: expected ${describeType(wanted)}, found ${describeType(given)}`);
}

function areCompatible(given: ValueType, wanted: ValueType): boolean {
  if (given.kind === 'other' || wanted.kind === 'other')
    return given.kind === 'other' && wanted.kind === 'other' && Buffer.compare(given.bytes, wanted.bytes) === 0;
  if (given.dtype !== undefined && wanted.dtype !== undefined && given.dtype !== wanted.dtype) return false;
  if (given.dims === undefined || wanted.dims === undefined) return true;
  return given.dims.length === wanted.dims.length && given.dims.every((dim, axis) => mayEqual(dim, wanted.dims?.[axis]));
}

const mayEqual = (a: Dim, b: Dim): boolean => typeof a !== 'number' || typeof b !== 'number' || a === b;
