/** Renaming inside graph fields that the IR keeps as bytes: quantization annotations and sparse initializers. */
import type { UnknownFields } from '../ir/model.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { encodeMessage } from '../proto/codec/encode-message.js';
import { WHOLE_SCHEMA } from '../proto/codec/schema.js';
import type { GraphProto } from '../proto/generated/messages.js';

/** The uninterpreted fields of a graph with values renamed. @throws OnnxError `model-malformed` if one cannot be decoded. */
export function renameInAnnotations(unknown: UnknownFields, names: ReadonlyMap<string, string>): UnknownFields {
  return unknown.map(bytes => {
    const proto = decodeMessage(WHOLE_SCHEMA, 'GraphProto', bytes);
    const renamed = renameIn(proto, names);
    return renamed === proto ? bytes : encodeMessage('GraphProto', renamed);
  });
}

function renameIn(proto: GraphProto, names: ReadonlyMap<string, string>): GraphProto {
  const rename = (name: string | undefined): string | undefined => (name === undefined ? undefined : (names.get(name) ?? name));
  const { quantizationAnnotation, sparseInitializer } = proto;
  if (quantizationAnnotation === undefined && sparseInitializer === undefined) return proto;
  return {
    ...proto,
    quantizationAnnotation: quantizationAnnotation?.map(annotation => ({
      ...annotation,
      tensorName: rename(annotation.tensorName),
      quantParameterTensorNames: annotation.quantParameterTensorNames?.map(entry => ({ ...entry, value: rename(entry.value) })),
    })),
    sparseInitializer: sparseInitializer?.map(sparse => ({
      ...sparse,
      values: sparse.values === undefined ? undefined : { ...sparse.values, name: rename(sparse.values.name) },
    })),
  };
}
