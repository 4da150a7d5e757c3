/** Descriptions of value types for messages, for example "float32 [1, 3, 224, 224]" or "sequence of float32 […]". */
import { findDTypeByOnnx } from '../../tensor/dtype.js';
import type { ValueType } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { WHOLE_SCHEMA } from '../proto/codec/schema.js';
import type { TypeProto } from '../proto/generated/messages.js';
import { decodeValueType } from '../serde/value-type.js';
import { formatDims } from '../shape-inference/context/node-context.js';

export function describeType(type: ValueType | undefined): string {
  if (type === undefined) return 'unknown type';
  if (type.kind === 'tensor') return `${type.dtype ?? '?'} ${formatDims(type.dims)}`;
  try {
    return describeProto(decodeMessage(WHOLE_SCHEMA, 'TypeProto', type.bytes), type.bytes);
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    return 'invalid type';
  }
}

function describeProto(proto: TypeProto | undefined, source: Uint8Array): string {
  if (proto?.tensorType !== undefined) {
    const type = decodeValueType(proto, source);
    return type.kind === 'tensor' ? describeType(type) : `element type ${proto.tensorType.elemType}`;
  }
  if (proto?.sequenceType !== undefined) return `sequence of ${describeProto(proto.sequenceType.elemType, source)}`;
  if (proto?.optionalType !== undefined) return `optional ${describeProto(proto.optionalType.elemType, source)}`;
  if (proto?.mapType !== undefined) {
    return `map from ${findDTypeByOnnx(proto.mapType.keyType ?? 0) ?? '?'} to ${describeProto(proto.mapType.valueType, source)}`;
  }
  if (proto?.sparseTensorType !== undefined) return `sparse ${findDTypeByOnnx(proto.sparseTensorType.elemType ?? 0) ?? '?'} tensor`;
  return 'unknown type';
}
