/** The error for invalid model files. */
import { OnnxError } from '../ir/onnx-error.js';

export function malformed(message: string): OnnxError {
  return new OnnxError('model-malformed', `not a valid ONNX model: ${message}`, {
    help: 'the file may be damaged or not an ONNX file; export or copy it again',
  });
}

/** `value` as a number. @throws OnnxError `model-malformed` if it is not a safe integer. */
export function toSafeInteger(value: bigint, what: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw malformed(`${what} is ${value}, outside the supported range`);
  return number;
}
