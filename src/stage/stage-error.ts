/** The error class of stage plugins. */
import { CodedError } from '../base/coded-error.js';

/** A failure with a stable code (docs/errors.md), a message for users and details for programs. */
export class StageError extends CodedError {
  override readonly name = 'StageError';
}
