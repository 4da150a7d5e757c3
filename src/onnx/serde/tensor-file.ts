/** How is one tensor read from a file of its own, as ONNX's test data has them? A TensorProto, and nothing around it. */
import { readFileBytes } from '../../tensor/formats/file-bytes.js';
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import type { Tensor } from '../../tensor/tensor.js';
import { OnnxError } from '../ir/onnx-error.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { makeSchema } from '../proto/codec/schema.js';
import { decodeTensorProto } from './tensor-proto.js';

export interface NamedTensor {
  /** '' where the file gives none. */
  readonly name: string;
  readonly tensor: Tensor;
}

const SCHEMA = makeSchema([]);

/** @throws OnnxError `tensor-malformed` where the bytes are no TensorProto, or its data lies in another file. */
export function decodeTensorFile(bytes: Uint8Array): NamedTensor {
  try {
    const proto = decodeMessage(SCHEMA, 'TensorProto', bytes);
    if (proto.dataType === undefined)
      throw new OnnxError('tensor-malformed', 'it has no element type: a sequence, an optional, or no tensor');
    const constant = decodeTensorProto(proto, undefined);
    return { name: proto.name ?? '', tensor: constant.dtype === 'string' ? constant : decodeRawTensor(constant) };
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    throw new OnnxError('tensor-malformed', `not a TensorProto that can be read: ${error.message}`, { cause: error });
  }
}

/** @throws OnnxError `tensor-malformed`; TensorError `file-missing`, `file-unreadable`. */
export async function readTensorFile(path: string): Promise<NamedTensor> {
  return decodeTensorFile(await readFileBytes(path));
}
