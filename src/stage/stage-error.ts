/** How does a plugin say why a stage failed? */
import { CodedError } from '../base/coded-error.js';

/** A failure with a stable code (docs/errors.md), a message for people and details for machines. */
export class StageError extends CodedError {
  override readonly name = 'StageError';
}
