/** The error class of src/target. */
import { CodedError } from '../../base/coded-error.js';

/** Thrown by everything in src/target; codes are listed in docs/errors.md. */
export class TargetError extends CodedError {
  override readonly name = 'TargetError';
}
