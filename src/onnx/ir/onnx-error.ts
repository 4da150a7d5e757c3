/** The error type of src/onnx. */
import { CodedError } from '../../base/coded-error.js';

/** The codes are listed in docs/errors.md. */
export class OnnxError extends CodedError {
  override readonly name = 'OnnxError';
}
