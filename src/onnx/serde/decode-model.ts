/** How do the bytes of an ONNX file become a model? */
import type { Model } from '../ir/model.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { makeSchema } from '../proto/codec/schema.js';
import type { OperatorSetIdProto } from '../proto/generated/messages.js';
import { decodeDomain, decodeGraph } from './decode-graph.js';
import { decodeEntries } from './entries.js';
import type { ReadExternal } from './external-data.js';
import { malformed, toSafeInteger } from './malformed.js';

/** What the IR does not interpret: kept as bytes among the unknown fields, and written back. */
const OPAQUE_FIELDS = [
  'ModelProto.trainingInfo',
  'ModelProto.functions',
  'ModelProto.configuration',
  'GraphProto.quantizationAnnotation',
  'GraphProto.sparseInitializer',
  'NodeProto.deviceConfigurations',
];

const MODEL_SCHEMA = makeSchema(OPAQUE_FIELDS);

/**
 * Decodes an ONNX file's bytes. Constants and unknown fields are views of `bytes`, which must not be changed after.
 * Not kept, as it says nothing: which form a tensor's data has (typed fields, raw, external), the order of value_info, negative sizes (they mean "unknown"),
 * value_info of initializers; and unknown fields of metadata entries and operator set imports.
 *
 * @param options.readExternal  reads tensors outside the file; `readModel` gives it.
 * @throws OnnxError `model-malformed`, `external-data-path`, `external-data-missing`, `external-data-bounds`.
 */
export function decodeModel(bytes: Uint8Array, options: { readonly readExternal?: ReadExternal } = {}): Model {
  const proto = decodeMessage(MODEL_SCHEMA, 'ModelProto', bytes);
  if (proto.graph === undefined) throw malformed('there is no graph in it');
  const source = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let nextId = 1;
  const graph = decodeGraph(proto.graph, { source, takeId: () => nextId++, readExternal: options.readExternal }, undefined);
  return {
    irVersion: toSafeInteger(proto.irVersion ?? 0n, 'the IR version'),
    opsets: decodeOpsets(proto.opsetImport ?? []),
    producerName: proto.producerName ?? '',
    producerVersion: proto.producerVersion ?? '',
    domain: proto.domain ?? '',
    modelVersion: proto.modelVersion ?? 0n,
    docString: proto.docString ?? '',
    metadata: decodeEntries(proto.metadataProps),
    graph,
    unknown: proto.unknown ?? [],
    nextId,
  };
}

/** A domain imported twice has the higher version, as ONNX says. */
function decodeOpsets(imports: readonly OperatorSetIdProto[]): Map<string, number> {
  const opsets = new Map<string, number>();
  for (const { domain, version } of imports) {
    const key = decodeDomain(domain);
    opsets.set(key, Math.max(opsets.get(key) ?? 0, toSafeInteger(version ?? 0n, 'an operator set version')));
  }
  return opsets;
}
