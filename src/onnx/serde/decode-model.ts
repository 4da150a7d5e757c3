/** Decoding of ONNX files into models. */
import type { Model } from '../ir/model.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { makeSchema } from '../proto/codec/schema.js';
import type { OperatorSetIdProto } from '../proto/generated/messages.js';
import { decodeDomain, decodeGraph } from './decode-graph.js';
import { decodeEntries } from './entries.js';
import type { ReadExternal } from './external-data.js';
import { malformed, toSafeInteger } from './malformed.js';

/** Fields that the IR does not interpret; they are kept as bytes among the unknown fields and written back. */
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
 * Decodes the bytes of an ONNX file. Constants and unknown fields are views of `bytes`, which must not be changed afterwards.
 * The following is not preserved: the form of tensor data (typed fields, raw, external), the order of value_info, negative dims (they mean "unknown"),
 * value_info of initializers, and unknown fields of metadata entries and operator set imports.
 *
 * @param options.readExternal  reads tensors outside the file; `readModel` supplies it.
 * @throws OnnxError `model-malformed`, `external-data-path`, `external-data-missing`, `external-data-bounds`.
 */
export function decodeModel(bytes: Uint8Array, options: { readonly readExternal?: ReadExternal } = {}): Model {
  const proto = decodeMessage(MODEL_SCHEMA, 'ModelProto', bytes);
  if (proto.graph === undefined) throw malformed('it has no graph');
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

/** If a domain is imported twice, the higher version counts, as ONNX specifies. */
function decodeOpsets(imports: readonly OperatorSetIdProto[]): Map<string, number> {
  const opsets = new Map<string, number>();
  for (const { domain, version } of imports) {
    const key = decodeDomain(domain);
    opsets.set(key, Math.max(opsets.get(key) ?? 0, toSafeInteger(version ?? 0n, 'an operator set version')));
  }
  return opsets;
}
