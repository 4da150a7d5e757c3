/** What can be wrong with a tensor or a tensor file? */
import { CodedError } from '../base/coded-error.js';

/** Thrown by everything in src/tensor; codes are listed in docs/errors.md. */
export class TensorError extends CodedError {
  override readonly name = 'TensorError';
}
