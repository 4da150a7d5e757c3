/** The error type of src/detection. */
import { CodedError } from '../../base/coded-error.js';

/** Thrown by everything in src/detection; codes are listed in docs/errors.md. */
export class DetectionError extends CodedError {
  override readonly name = 'DetectionError';
}
