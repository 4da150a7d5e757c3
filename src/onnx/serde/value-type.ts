/** Conversion between TypeProto messages and value types. Only tensor types are interpreted; all others are kept as bytes. */
import { DTYPES, findDTypeByOnnx } from '../../tensor/dtype.js';
import type { Dim, UnknownInType, ValueType } from '../ir/model.js';
import type { TensorShapeProtoDimension, TypeProto, TypeProtoTensor } from '../proto/generated/messages.js';
import { toSafeInteger } from './malformed.js';

/** The type in `proto`, a message in `source`. A negative dim, which old exporters write for "unknown", becomes unknown. */
export function decodeValueType(proto: TypeProto, source: Uint8Array): ValueType {
  const elemType = proto.tensorType?.elemType ?? 0;
  const dtype = findDTypeByOnnx(elemType);
  if (proto.tensorType === undefined || (dtype === undefined && elemType !== 0)) {
    return { kind: 'other', bytes: source.subarray(proto.contentStart, proto.contentEnd) };
  }
  const sizes = proto.tensorType.shape === undefined ? undefined : (proto.tensorType.shape.dim ?? []);
  return {
    kind: 'tensor',
    dtype,
    dims: sizes?.map(decodeDim),
    ...(isAbsent(proto.denotation) ? {} : { denotation: proto.denotation }),
    ...(sizes === undefined || sizes.every(size => isAbsent(size.denotation))
      ? {}
      : { dimDenotations: sizes.map(size => size.denotation) }),
    ...keepUnknown(proto, proto.tensorType),
  };
}

function keepUnknown(proto: TypeProto, tensor: TypeProtoTensor): { readonly unknown?: UnknownInType } {
  const dims = (tensor.shape?.dim ?? []).map(({ unknown = [] }) => unknown);
  const unknown = { type: proto.unknown ?? [], tensor: tensor.unknown ?? [], shape: tensor.shape?.unknown ?? [], dims };
  return [unknown.type, unknown.tensor, unknown.shape, ...dims].every(fields => fields.length === 0) ? {} : { unknown };
}

function isAbsent(text: string | undefined): text is '' | undefined {
  return text === undefined || text === '';
}

function decodeDim(dim: TensorShapeProtoDimension): Dim {
  if (dim.dimValue !== undefined) return dim.dimValue < 0n ? undefined : toSafeInteger(dim.dimValue, 'a dim of a value type');
  return dim.dimParam === '' ? undefined : dim.dimParam;
}

export function encodeValueType(type: ValueType): TypeProto {
  if (type.kind === 'other') return { encoded: type.bytes };
  const elemType = type.dtype === undefined ? 0 : DTYPES[type.dtype].onnx;
  const { unknown } = type;
  const dim = type.dims?.map((size, axis) => ({ ...encodeDim(size, type.dimDenotations?.[axis]), unknown: unknown?.dims[axis] }));
  const shape = dim === undefined ? undefined : { dim, unknown: unknown?.shape };
  return { tensorType: { elemType, shape, unknown: unknown?.tensor }, denotation: type.denotation, unknown: unknown?.type };
}

function encodeDim(dim: Dim, denotation: string | undefined): TensorShapeProtoDimension {
  if (dim === undefined) return { denotation };
  return typeof dim === 'number' ? { dimValue: BigInt(dim), denotation } : { dimParam: dim, denotation };
}
