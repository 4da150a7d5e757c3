/** Parser of the text form of models, which is close to the textual syntax of ONNX. It is used in tests and examples. */
import type { Model } from '../ir/model.js';
import { encodeMessage } from '../proto/codec/encode-message.js';
import type { ModelProto, OperatorSetIdProto, StringStringEntryProto } from '../proto/generated/messages.js';
import { decodeModel } from '../serde/decode-model.js';
import { parseGraph } from './parse-graph.js';
import { TokenReader } from './tokens.js';

/**
 * Parses a model, for example
 *
 *     <ir_version: 10, opset_import: ["": 17]>
 *     agraph (float[N, 3, 4, 4] x) => (float[N, 2, 2, 2] y)
 *     <float[2, 3, 3, 3] w = {…54 numbers}, float[2] b = {0, 0.5}>
 *     {
 *       [conv1] c = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(x, w, b)
 *       y = Relu(c)
 *     }
 *
 * `float[]` has unknown rank, `float` is a scalar, `?` an unknown dim. Names with characters other than letters, digits, `_`, `.` and `/` are quoted.
 * An absent input or output is an empty name between commas. Attributes may have a type (`axes: ints = []`); tensors are written `int64[2] {1, 2}`,
 * subgraphs like the main graph, and `com.microsoft.Gelu` is operator Gelu of domain com.microsoft. `#` starts a comment. The heading is optional; the
 * defaults are IR version 10 and opset `options.opset` (17).
 *
 * @throws OnnxError `model-text` with line and column.
 */
export function parseModelText(text: string, options: { readonly opset?: number } = {}): Model {
  const tokens = new TokenReader(text);
  const heading: Heading = { irVersion: 10n, opsetImport: [{ version: BigInt(options.opset ?? 17) }] };
  const fields = tokens.skip('<') ? parseHeading(tokens, heading) : heading;
  const proto: ModelProto = { ...fields, graph: parseGraph(tokens) };
  if (tokens.peek().kind !== 'end') throw tokens.unexpected('the end of the text');
  return decodeModel(encodeMessage('ModelProto', proto));
}

type Heading = Omit<ModelProto, 'graph'>;

function parseHeading(tokens: TokenReader, defaults: Heading): Heading {
  let heading = defaults;
  tokens.list('>', () => {
    heading = { ...heading, ...parseHeadingField(tokens) };
  });
  return heading;
}

function parseHeadingField(tokens: TokenReader): Heading {
  const key = tokens.take();
  tokens.expect(':');
  switch (key.text) {
    case 'ir_version':
      return { irVersion: parseInt64(tokens) };
    case 'model_version':
      return { modelVersion: parseInt64(tokens) };
    case 'producer_name':
      return { producerName: tokens.name('a string') };
    case 'producer_version':
      return { producerVersion: tokens.name('a string') };
    case 'domain':
      return { domain: tokens.name('a string') };
    case 'doc_string':
      return { docString: tokens.name('a string') };
    case 'opset_import':
      return { opsetImport: parsePairs(tokens, (domain): OperatorSetIdProto => ({ domain, version: parseInt64(tokens) })) };
    case 'metadata_props':
      return { metadataProps: parsePairs(tokens, (name): StringStringEntryProto => ({ key: name, value: tokens.name('a string') })) };
    default:
      throw tokens.unexpected('a field of the model (ir_version, opset_import, …)', key);
  }
}

function parsePairs<T>(tokens: TokenReader, parseValue: (key: string) => T): T[] {
  tokens.expect('[');
  return tokens.list(']', () => {
    const key = tokens.name('a string');
    tokens.expect(':');
    return parseValue(key);
  });
}

function parseInt64(tokens: TokenReader): bigint {
  const token = tokens.take();
  if (token.kind !== 'int') throw tokens.unexpected('an integer', token);
  return BigInt(token.text);
}
