/** Detection of sparse initializers, which the IR keeps as bytes. */
import type { Graph, ValueId } from '../ir/model.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { WHOLE_SCHEMA } from '../proto/codec/schema.js';

/** @throws OnnxError `model-malformed` if an uninterpreted field of the graph cannot be decoded. */
export function findSparseInitializers(graph: Graph): ReadonlySet<ValueId> {
  if (graph.unknown.length === 0) return new Set();
  const sparse = graph.unknown.flatMap(bytes => decodeMessage(WHOLE_SCHEMA, 'GraphProto', bytes).sparseInitializer ?? []);
  const names = new Set(sparse.map(({ values }) => values?.name));
  return new Set([...graph.values.values()].filter(({ name }) => names.has(name)).map(({ id }) => id));
}
