/** What can be wrong with a model or an operation on one? */
import { CodedError } from '../../base/coded-error.js';

/** Thrown by everything in src/onnx; codes are listed in docs/errors.md. */
export class OnnxError extends CodedError {
  override readonly name = 'OnnxError';
}
