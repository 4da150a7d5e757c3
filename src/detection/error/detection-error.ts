/** What can be wrong with a detector: its checkpoint, configuration, recipe, or what its parts gave? */
import { CodedError } from '../../base/coded-error.js';

/** Thrown by everything in src/detection; codes are listed in docs/errors.md. */
export class DetectionError extends CodedError {
  override readonly name = 'DetectionError';
}
