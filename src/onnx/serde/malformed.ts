/** How does decoding say that a file is no valid model? */
import { OnnxError } from '../ir/onnx-error.js';

export function malformed(message: string): OnnxError {
  return new OnnxError('model-malformed', `not a valid ONNX model: ${message}`, {
    help: 'the file may be damaged, or be no ONNX file; export or copy it again',
  });
}

/** `value` as a number. @throws OnnxError `model-malformed` where it is beyond the safe integers. */
export function toSafeInteger(value: bigint, what: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw malformed(`${what} is ${value}, beyond what can be counted`);
  return number;
}
