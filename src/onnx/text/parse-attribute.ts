/** Parser for attributes in the text form of a model. The type is stated, or derived from the value. */
import { DTYPES } from '../../tensor/dtype.js';
import { type AttributeProto, AttributeType, type GraphProto, type TensorProto } from '../proto/generated/messages.js';
import { encodeTensorProto } from '../serde/tensor-proto.js';
import { findDTypeByName } from './dtype-names.js';
import { parseConstantBody } from './parse-constant.js';
import type { TokenReader } from './tokens.js';

export const TYPE_NAMES: ReadonlyMap<string, number> = new Map([
  ['float', AttributeType.FLOAT],
  ['int', AttributeType.INT],
  ['string', AttributeType.STRING],
  ['tensor', AttributeType.TENSOR],
  ['graph', AttributeType.GRAPH],
  ['floats', AttributeType.FLOATS],
  ['ints', AttributeType.INTS],
  ['strings', AttributeType.STRINGS],
  ['tensors', AttributeType.TENSORS],
  ['graphs', AttributeType.GRAPHS],
]);

const encoder = new TextEncoder();

/** One value of an attribute. */
type Item =
  | { readonly type: 'float' | 'int'; readonly number: number | bigint }
  | { readonly type: 'string'; readonly bytes: Uint8Array }
  | { readonly type: 'tensor'; readonly tensor: TensorProto }
  | { readonly type: 'graph'; readonly graph: GraphProto };

export function parseAttribute(tokens: TokenReader, parseGraph: (tokens: TokenReader) => GraphProto): AttributeProto {
  const name = tokens.name('an attribute');
  const stated = tokens.skip(':') ? tokens.name("the attribute's type") : undefined;
  tokens.expect('=');
  if (stated === 'other') return { encoded: Uint8Array.from(Buffer.from(tokens.name('hexadecimal digits'), 'hex')) };
  if (stated !== undefined && !TYPE_NAMES.has(stated))
    throw tokens.error(`"${stated}" is not an attribute type; the types are ${[...TYPE_NAMES.keys()].join(', ')}`);
  if (tokens.skip('@')) return { name, refAttrName: tokens.name('an attribute'), type: TYPE_NAMES.get(stated ?? '') ?? 0 };
  const at = tokens.peek();
  const isList = tokens.skip('[');
  const items = isList ? tokens.list(']', () => parseItem(tokens, parseGraph)) : [parseItem(tokens, parseGraph)];
  const type = stated ?? guessType(items, isList);
  if (type === undefined) throw tokens.error('an empty list needs a type, for example "axes: ints = []"', at);
  const fields = makeFields(type, items);
  if (fields === undefined || isList !== type.endsWith('s')) throw tokens.unexpected(`a value of type ${type}`, at);
  return { name, ...fields, type: TYPE_NAMES.get(type) ?? 0 };
}

function parseItem(tokens: TokenReader, parseGraph: (tokens: TokenReader) => GraphProto): Item {
  const token = tokens.peek();
  if (token.kind === 'int') return { type: 'int', number: BigInt(tokens.take().text) };
  if (token.kind === 'float') return { type: 'float', number: parseFloatText(tokens.take().text) };
  if (token.kind === 'string') return { type: 'string', bytes: encoder.encode(tokens.take().text) };
  if (token.kind !== 'name') throw tokens.unexpected("an attribute's value");
  if (tokens.at('(', 1)) return { type: 'graph', graph: parseGraph(tokens) };
  return { type: 'tensor', tensor: parseTensor(tokens) };
}

function parseFloatText(text: string): number {
  if (text.endsWith('inf')) return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return text === 'nan' ? Number.NaN : Number(text);
}

function parseTensor(tokens: TokenReader): TensorProto {
  const token = tokens.take();
  const dtype = findDTypeByName(token.text);
  if (dtype === undefined) throw tokens.unexpected("a tensor's element type", token);
  const dims = tokens.skip('[') ? tokens.list(']', () => Number(tokens.take().text)) : [];
  const name = tokens.at('{') ? '' : tokens.name('the name of the tensor, or its elements,');
  const constant = parseConstantBody(tokens, dtype, dims);
  return encodeTensorProto(constant, name, DTYPES[constant.dtype].onnx, undefined);
}

/** The type of the values; integers in a list of floats are floats. */
function guessType(items: readonly Item[], isList: boolean): string | undefined {
  const types = new Set(items.map(({ type }) => type));
  if (types.size === 2 && types.has('int') && types.has('float')) types.delete('int');
  const [only] = types;
  return only === undefined || types.size > 1 ? undefined : isList ? `${only}s` : only;
}

function makeFields(type: string, items: readonly Item[]): AttributeProto | undefined {
  const numbers = items.flatMap(item => ('number' in item ? [item.number] : []));
  const strings = items.flatMap(item => ('bytes' in item ? [item.bytes] : []));
  const tensors = items.flatMap(item => ('tensor' in item ? [item.tensor] : []));
  const graphs = items.flatMap(item => ('graph' in item ? [item.graph] : []));
  const integers = numbers.flatMap(number => (typeof number === 'bigint' ? [number] : []));
  const whole = (values: readonly unknown[], fields: AttributeProto): AttributeProto | undefined =>
    values.length === items.length ? fields : undefined;
  switch (type) {
    case 'float':
      return whole(numbers, { f: Number(numbers[0]) });
    case 'floats':
      return whole(numbers, { floats: Float32Array.from(numbers, Number) });
    case 'int':
      return whole(integers, { i: integers[0] });
    case 'ints':
      return whole(integers, { ints: BigInt64Array.from(integers) });
    case 'string':
      return whole(strings, { s: strings[0] });
    case 'strings':
      return whole(strings, { strings });
    case 'tensor':
      return whole(tensors, { t: tensors[0] });
    case 'tensors':
      return whole(tensors, { tensors });
    case 'graph':
      return whole(graphs, { g: graphs[0] });
    default:
      return whole(graphs, { graphs });
  }
}
