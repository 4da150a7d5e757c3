/** Merging of the model-local functions and other uninterpreted fields of two models. */
import { OnnxError } from '../ir/onnx-error.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { WHOLE_SCHEMA } from '../proto/codec/schema.js';

/** @throws OnnxError `functions-differ`. */
export function mergeFunctions(first: readonly Uint8Array[], second: readonly Uint8Array[]): readonly Uint8Array[] {
  const known = new Map(first.flatMap(bytes => functionsIn(bytes).map(name => [name, bytes] as const)));
  const added = second.filter(bytes => {
    const [name] = functionsIn(bytes);
    const other = name === undefined ? undefined : known.get(name);
    if (other === undefined) return true;
    if (Buffer.compare(other, bytes) === 0) return false;
    throw new OnnxError('functions-differ', `both models have a function ${name}, with different contents`, {
      help: 'export one of the models with another function name',
    });
  });
  return [...first, ...added];
}

/** Names of the functions in one field of a ModelProto: one or none. */
function functionsIn(bytes: Uint8Array): readonly string[] {
  const { functions = [] } = decodeMessage(WHOLE_SCHEMA, 'ModelProto', bytes);
  return functions.map(({ domain = '', name = '', overload = '' }) => [domain, name, overload].filter(Boolean).join('.'));
}
