/** The error class of src/quant. */
import { CodedError } from '../../base/coded-error.js';

/** Thrown by everything in src/quant; codes are listed in docs/errors.md. */
export class QuantError extends CodedError {
  override readonly name = 'QuantError';
}
