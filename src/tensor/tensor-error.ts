/** The error type of src/tensor. */
import { CodedError } from '../base/coded-error.js';

/** The codes are listed in docs/errors.md. */
export class TensorError extends CodedError {
  override readonly name = 'TensorError';
}
