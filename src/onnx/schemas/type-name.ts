/** Names of types in operator schemas: "float32" for a tensor, "seq(float32)", "optional(seq(int64))", "map(int64,float32)", "sparse(float32)". */
import { findDTypeByOnnx } from '../../tensor/dtype.js';
import type { ValueType } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { WHOLE_SCHEMA } from '../proto/codec/schema.js';
import type { TypeProto } from '../proto/generated/messages.js';

/** The name of a type; undefined if the type or a part of it is not known. */
export function typeName(type: ValueType | undefined): string | undefined {
  if (type?.kind !== 'other') return type?.dtype;
  try {
    return nameOfProto(decodeMessage(WHOLE_SCHEMA, 'TypeProto', type.bytes));
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    return undefined;
  }
}

/** The name of the type in a TypeProto. */
function nameOfProto(proto: TypeProto | undefined): string | undefined {
  if (proto?.tensorType !== undefined) return findDTypeByOnnx(proto.tensorType.elemType ?? 0);
  if (proto?.sequenceType !== undefined) return wrap('seq', nameOfProto(proto.sequenceType.elemType));
  if (proto?.optionalType !== undefined) return wrap('optional', nameOfProto(proto.optionalType.elemType));
  if (proto?.sparseTensorType !== undefined) return wrap('sparse', findDTypeByOnnx(proto.sparseTensorType.elemType ?? 0));
  if (proto?.mapType === undefined) return undefined;
  const key = findDTypeByOnnx(proto.mapType.keyType ?? 0);
  const value = nameOfProto(proto.mapType.valueType);
  return key === undefined || value === undefined ? undefined : `map(${key},${value})`;
}

function wrap(container: string, inner: string | undefined): string | undefined {
  return inner === undefined ? undefined : `${container}(${inner})`;
}
