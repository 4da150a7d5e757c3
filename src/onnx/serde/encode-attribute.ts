/** Encoding of attributes as AttributeProto messages. */
import { assertNever } from '../../base/assert-never.js';
import { DTYPES } from '../../tensor/dtype.js';
import type { Attribute, AttributeValue, Graph, NamedConstant } from '../ir/model.js';
import { type AttributeProto, AttributeType, type GraphProto, type TensorProto } from '../proto/generated/messages.js';
import { encodeEntries } from './entries.js';
import { encodeTensorProto } from './tensor-proto.js';

export function encodeAttribute(name: string, attribute: Attribute, encodeGraph: (graph: Graph) => GraphProto): AttributeProto {
  const { docString, unknown } = attribute;
  const encoded = encodeValue(name, attribute, encodeGraph);
  return docString === undefined && unknown === undefined ? encoded : { ...encoded, docString, unknown };
}

function encodeValue(name: string, attribute: AttributeValue, encodeGraph: (graph: Graph) => GraphProto): AttributeProto {
  switch (attribute.kind) {
    case 'float':
      return { name, f: attribute.value, type: AttributeType.FLOAT };
    case 'int':
      return { name, i: attribute.value, type: AttributeType.INT };
    case 'string':
      return { name, s: attribute.value, type: AttributeType.STRING };
    case 'tensor':
      return { name, t: encodeNamed(attribute), type: AttributeType.TENSOR };
    case 'graph':
      return { name, g: encodeGraph(attribute.value), type: AttributeType.GRAPH };
    case 'floats':
      return { name, floats: Float32Array.from(attribute.value), type: AttributeType.FLOATS };
    case 'ints':
      return { name, ints: BigInt64Array.from(attribute.value), type: AttributeType.INTS };
    case 'strings':
      return { name, strings: attribute.value, type: AttributeType.STRINGS };
    case 'tensors':
      return { name, tensors: attribute.value.map(encodeNamed), type: AttributeType.TENSORS };
    case 'graphs':
      return { name, graphs: attribute.value.map(encodeGraph), type: AttributeType.GRAPHS };
    case 'ref':
      return { name, refAttrName: attribute.refName, type: attribute.attributeType };
    case 'other':
      return { encoded: attribute.bytes };
    default:
      return assertNever(attribute);
  }
}

function encodeNamed({ value, name, notes }: NamedConstant): TensorProto {
  const encoded = encodeTensorProto(value, name, DTYPES[value.dtype].onnx, undefined);
  if (notes === undefined) return encoded;
  const docString = notes.docString === '' ? undefined : notes.docString;
  return { ...encoded, docString, metadataProps: encodeEntries(notes.metadata), unknown: notes.unknown };
}
