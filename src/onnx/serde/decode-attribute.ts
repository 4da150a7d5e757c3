/** Decoding of AttributeProto messages. */
import { assertNever } from '../../base/assert-never.js';
import type { Attribute, AttributeValue, Constant, Graph, NamedConstant } from '../ir/model.js';
import { type AttributeProto, AttributeType, type GraphProto, type TensorProto } from '../proto/generated/messages.js';
import { decodeEntries } from './entries.js';
import { malformed } from './malformed.js';

/** Decoders for the parts of an attribute. `source` are the bytes from which the message was decoded. */
export interface AttributeDecoder {
  readonly source: Uint8Array;
  readonly decodeTensor: (proto: TensorProto) => Constant;
  readonly decodeGraph: (proto: GraphProto) => Graph;
}

/** @throws OnnxError `model-malformed` if a tensor or graph attribute has no value. */
export function decodeAttribute(proto: AttributeProto, decoder: AttributeDecoder): Attribute {
  const value = decodeValue(proto, decoder);
  const { docString = '', unknown } = proto;
  if (value.kind === 'other' || (docString === '' && unknown === undefined)) return value;
  return { ...value, ...(docString === '' ? {} : { docString }), ...(unknown === undefined ? {} : { unknown }) };
}

function decodeValue(proto: AttributeProto, decoder: AttributeDecoder): AttributeValue {
  const type = proto.type ?? guessType(proto);
  if (proto.refAttrName !== undefined && proto.refAttrName !== '') return { kind: 'ref', refName: proto.refAttrName, attributeType: type };
  const known = Object.values(AttributeType).find(value => value === type) ?? AttributeType.UNDEFINED;
  switch (known) {
    case AttributeType.FLOAT:
      return { kind: 'float', value: proto.f ?? 0 };
    case AttributeType.INT:
      return { kind: 'int', value: proto.i ?? 0n };
    case AttributeType.STRING:
      return { kind: 'string', value: proto.s ?? new Uint8Array(0) };
    case AttributeType.TENSOR:
      if (proto.t === undefined) throw malformed(`tensor attribute "${proto.name}" has no tensor`);
      return { kind: 'tensor', ...decodeNamed(proto.t, decoder) };
    case AttributeType.GRAPH:
      if (proto.g === undefined) throw malformed(`graph attribute "${proto.name}" has no graph`);
      return { kind: 'graph', value: decoder.decodeGraph(proto.g) };
    case AttributeType.FLOATS:
      return { kind: 'floats', value: Array.from(proto.floats ?? []) };
    case AttributeType.INTS:
      return { kind: 'ints', value: Array.from(proto.ints ?? []) };
    case AttributeType.STRINGS:
      return { kind: 'strings', value: proto.strings ?? [] };
    case AttributeType.TENSORS:
      return { kind: 'tensors', value: (proto.tensors ?? []).map(tensor => decodeNamed(tensor, decoder)) };
    case AttributeType.GRAPHS:
      return { kind: 'graphs', value: (proto.graphs ?? []).map(decoder.decodeGraph) };
    case AttributeType.UNDEFINED:
    case AttributeType.SPARSE_TENSOR:
    case AttributeType.SPARSE_TENSORS:
    case AttributeType.TYPE_PROTO:
    case AttributeType.TYPE_PROTOS:
      return { kind: 'other', bytes: decoder.source.subarray(proto.contentStart, proto.contentEnd) };
    default:
      return assertNever(known);
  }
}

function decodeNamed(proto: TensorProto, decoder: AttributeDecoder): NamedConstant {
  const { docString = '', metadataProps = [], unknown = [] } = proto;
  const named = { value: decoder.decodeTensor(proto), name: proto.name ?? '' };
  if (docString === '' && metadataProps.length === 0 && unknown.length === 0) return named;
  return { ...named, notes: { docString, metadata: decodeEntries(metadataProps), unknown } };
}

/** The type of an attribute without one, as in IR version 1, from the field that is set. */
function guessType(proto: AttributeProto): number {
  if (proto.f !== undefined) return AttributeType.FLOAT;
  if (proto.i !== undefined) return AttributeType.INT;
  if (proto.s !== undefined) return AttributeType.STRING;
  if (proto.t !== undefined) return AttributeType.TENSOR;
  if (proto.g !== undefined) return AttributeType.GRAPH;
  if (proto.floats !== undefined) return AttributeType.FLOATS;
  if (proto.ints !== undefined) return AttributeType.INTS;
  if (proto.strings !== undefined) return AttributeType.STRINGS;
  if (proto.tensors !== undefined) return AttributeType.TENSORS;
  if (proto.graphs !== undefined) return AttributeType.GRAPHS;
  return AttributeType.UNDEFINED;
}
