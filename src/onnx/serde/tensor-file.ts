/** Reading of files with a single TensorProto, the format of ONNX test data. */
import { readFileBytes } from '../../tensor/formats/file-bytes.js';
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import type { Tensor } from '../../tensor/tensor.js';
import { OnnxError } from '../ir/onnx-error.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { makeSchema } from '../proto/codec/schema.js';
import { decodeTensorProto } from './tensor-proto.js';

export interface NamedTensor {
  /** '' if the file has no name. */
  readonly name: string;
  readonly tensor: Tensor;
}

const SCHEMA = makeSchema([]);

/** @throws OnnxError `tensor-malformed` if the bytes are not a TensorProto, or its data is in another file. */
export function decodeTensorFile(bytes: Uint8Array): NamedTensor {
  try {
    const proto = decodeMessage(SCHEMA, 'TensorProto', bytes);
    if (proto.dataType === undefined)
      throw new OnnxError('tensor-malformed', 'it has no element type; it may be a sequence, an optional, or not a tensor');
    const constant = decodeTensorProto(proto, undefined);
    return { name: proto.name ?? '', tensor: constant.dtype === 'string' ? constant : decodeRawTensor(constant) };
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    throw new OnnxError('tensor-malformed', `not a valid TensorProto: ${error.message}`, { cause: error });
  }
}

/** @throws OnnxError `tensor-malformed`; TensorError `file-missing`, `file-unreadable`. */
export async function readTensorFile(path: string): Promise<NamedTensor> {
  return decodeTensorFile(await readFileBytes(path));
}
