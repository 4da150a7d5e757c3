/** The error type of models that are run. It loads nothing, so that code which only reads reports needs no ONNX Runtime. */
import { CodedError } from '../../base/coded-error.js';

/** `model-load`: ONNX Runtime rejects the model; `model-run`: a run failed. The message includes ONNX Runtime's message. */
export class RuntimeError extends CodedError {
  override readonly name = 'RuntimeError';
}
