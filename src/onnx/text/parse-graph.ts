/** Parser for graphs in the text form of a model. */
import { DTYPES } from '../../tensor/dtype.js';
import type { Dim } from '../ir/model.js';
import type { GraphProto, NodeProto, TensorProto, TypeProto, ValueInfoProto } from '../proto/generated/messages.js';
import { encodeTensorProto } from '../serde/tensor-proto.js';
import { encodeValueType } from '../serde/value-type.js';
import { findDTypeByName } from './dtype-names.js';
import { parseAttribute } from './parse-attribute.js';
import { parseConstantBody } from './parse-constant.js';
import type { TokenReader } from './tokens.js';

/** A declared value and its constant, if given. */
interface Declared {
  readonly info: ValueInfoProto;
  readonly constant: TensorProto | undefined;
}

export function parseGraph(tokens: TokenReader): GraphProto {
  const name = tokens.name("the graph's name");
  tokens.expect('(');
  const inputs = tokens.list(')', () => parseDeclared(tokens));
  tokens.expect('=>');
  tokens.expect('(');
  const outputs = tokens.list(')', () => parseDeclared(tokens));
  const others = tokens.skip('<') ? tokens.list('>', () => parseDeclared(tokens)) : [];
  tokens.expect('{');
  const nodes: NodeProto[] = [];
  while (!tokens.skip('}')) nodes.push(parseNode(tokens));
  return {
    name,
    node: nodes,
    initializer: [...inputs, ...others].flatMap(({ constant }) => constant ?? []),
    input: inputs.map(({ info }) => info),
    output: outputs.map(({ info }) => info),
    valueInfo: others.flatMap(({ info, constant }) => (constant === undefined ? [info] : [])),
  };
}

function parseDeclared(tokens: TokenReader): Declared {
  if (!isType(tokens)) return { info: { name: tokens.name('a value') }, constant: undefined };
  const at = tokens.peek();
  const type = parseType(tokens);
  const name = tokens.name('a value');
  const info: ValueInfoProto = { name, type: type.proto };
  if (!tokens.skip('=')) return { info, constant: undefined };
  if (type.dtype === undefined || type.dims === undefined) throw tokens.error('a constant needs a tensor type', at);
  const constant = parseConstantBody(tokens, type.dtype, type.dims);
  return { info, constant: encodeTensorProto(constant, name, DTYPES[constant.dtype].onnx, undefined) };
}

/** Whether a type comes next: the name of a type, followed by dims or by the name of the value. */
function isType(tokens: TokenReader): boolean {
  const token = tokens.peek();
  if (token.kind === 'sign' && token.text === '?') return true;
  if (token.kind !== 'name') return false;
  if (token.text === 'other' && tokens.at('(', 1)) return true;
  const after = tokens.peek(1);
  return findDTypeByName(token.text) !== undefined && (after.kind === 'name' || after.kind === 'string' || tokens.at('[', 1));
}

interface ParsedType {
  readonly proto: TypeProto;
  readonly dtype?: ReturnType<typeof findDTypeByName>;
  readonly dims?: readonly Dim[] | undefined;
}

function parseType(tokens: TokenReader): ParsedType {
  const token = tokens.take();
  if (token.text === 'other') {
    tokens.expect('(');
    const bytes = Uint8Array.from(Buffer.from(tokens.name('hexadecimal digits'), 'hex'));
    tokens.expect(')');
    return { proto: { encoded: bytes } };
  }
  const dtype = findDTypeByName(token.text);
  const dims = parseDims(tokens);
  return { proto: encodeValueType({ kind: 'tensor', dtype, dims }), dtype, dims };
}

/** Dims in brackets; no brackets mean a scalar, empty brackets an unknown rank. */
export function parseDims(tokens: TokenReader): Dim[] | undefined {
  if (!tokens.skip('[')) return [];
  if (tokens.skip(']')) return undefined;
  return tokens.list(']', () => {
    if (tokens.skip('?')) return undefined;
    return tokens.peek().kind === 'int' ? Number(tokens.take().text) : tokens.name('a dim');
  });
}

function parseNode(tokens: TokenReader): NodeProto {
  const name = tokens.skip('[') ? tokens.name("the node's name") : undefined;
  if (name !== undefined) tokens.expect(']');
  const output = parseOutputs(tokens);
  const operator = parseOperator(tokens);
  const before = parseAttributes(tokens);
  tokens.expect('(');
  const input = parsePlaces(tokens, ')');
  const after = tokens.at('<') ? parseAttributes(tokens) : [];
  return { input, output, name, ...operator, attribute: [...before, ...after] };
}

function parseOutputs(tokens: TokenReader): string[] {
  return parsePlaces(tokens, '=');
}

/** Names between commas up to `end`. An empty name is an absent value; no text at all is an empty list. */
function parsePlaces(tokens: TokenReader, end: string): string[] {
  if (tokens.skip(end)) return [];
  const names: string[] = [];
  for (;;) {
    names.push(tokens.at(',') || tokens.at(end) ? '' : tokens.name('a value'));
    if (tokens.skip(end)) return names;
    tokens.expect(',');
  }
}

function parseOperator(tokens: TokenReader): Pick<NodeProto, 'opType' | 'domain' | 'overload'> {
  const path = tokens.name('an operator');
  const dot = path.lastIndexOf('.');
  return {
    opType: path.slice(dot + 1),
    domain: dot < 0 ? undefined : path.slice(0, dot),
    overload: tokens.skip(':') ? tokens.name('an overload') : undefined,
  };
}

function parseAttributes(tokens: TokenReader): ReturnType<typeof parseAttribute>[] {
  return tokens.skip('<') ? tokens.list('>', () => parseAttribute(tokens, parseGraph)) : [];
}
