/** Decoding of protobuf messages by field tables: byte fields become views, repeated numbers typed arrays, and unknown fields are kept. */
import type { Reader } from 'protobufjs';
import protobuf from 'protobufjs/minimal.js';
import { OnnxError } from '../../ir/onnx-error.js';
import type { Messages } from '../generated/messages.js';
import type { Field } from '../message.js';
import { finishScalarList, makeScalarList, NUMBERS, type NumberKind, readPacked, readScalar, type ScalarList } from './scalar-list.js';
import { getFields, type MessageName, type Schema } from './schema.js';

/** The default limit of protobuf; it protects against malicious files. */
const MAX_DEPTH = 100;
const LENGTH_DELIMITED = 2;

interface Decoding {
  readonly schema: Schema;
  readonly source: Uint8Array;
  readonly reader: Reader;
}

/**
 * Decodes one message. Byte fields and unknown fields are views of `bytes`. A field with an unexpected wire type is treated as unknown.
 * @throws OnnxError `model-malformed` if the bytes are not a message: truncated, nested too deeply, or with a repeated single message field.
 */
export function decodeMessage<Name extends MessageName>(schema: Schema, name: Name, bytes: Uint8Array): Messages[Name] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const source = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const reader = protobuf.Reader.create(buffer);
  try {
    return decodeFields({ schema, source, reader }, name, 0) as Messages[Name];
  } catch (error) {
    if (error instanceof OnnxError) throw error;
    throw malformed(`${error instanceof Error ? error.message : error} (at byte ${reader.pos} of ${bytes.length})`);
  }
}

/** Reads fields up to `reader.len`. */
function decodeFields(decoding: Decoding, name: string, depth: number): object {
  if (depth > MAX_DEPTH) throw malformed(`messages are nested deeper than ${MAX_DEPTH}`);
  const { reader, source, schema } = decoding;
  const fields = getFields(schema, name);
  const message: Record<string, unknown> = { contentStart: reader.pos, contentEnd: reader.len };
  const lists = new Map<Field, ScalarList>();
  let unknown: Uint8Array[] | undefined;
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const tag = reader.tag();
    const wire = tag & 7;
    const field = fields[tag >>> 3];
    if (field === undefined || !accepts(field, wire)) {
      reader.skipType(wire, depth, tag >>> 3);
      unknown ??= [];
      unknown.push(source.subarray(start, reader.pos));
    } else if (isNumber(field.kind)) {
      decodeNumber(reader, field, field.kind, wire, message, lists);
    } else {
      decodeDelimited(decoding, name, field, message, depth);
    }
  }
  if (reader.pos !== reader.len) throw malformed(`${name} ends inside a field`);
  for (const [field, list] of lists) message[field.name] = finishScalarList(list);
  if (unknown !== undefined) message.unknown = unknown;
  return message;
}

function isNumber(kind: string): kind is NumberKind {
  return kind in NUMBERS;
}

function accepts(field: Field, wire: number): boolean {
  if (!isNumber(field.kind)) return wire === LENGTH_DELIMITED;
  return wire === NUMBERS[field.kind].wire || (wire === LENGTH_DELIMITED && field.form !== 'single');
}

function decodeNumber(
  reader: Reader,
  field: Field,
  kind: NumberKind,
  wire: number,
  message: Record<string, unknown>,
  lists: Map<Field, ScalarList>,
): void {
  if (field.form === 'single') {
    message[field.name] = decodeSingle(reader, kind);
    return;
  }
  let list = lists.get(field);
  if (list === undefined) {
    list = makeScalarList(kind, 0);
    lists.set(field, list);
  }
  if (wire === LENGTH_DELIMITED) readPacked(reader, list);
  else readScalar(reader, list);
}

function decodeSingle(reader: Reader, kind: NumberKind): number | bigint | undefined {
  if (kind === 'int32') return reader.int32();
  if (kind === 'float') return reader.float();
  const list = makeScalarList(kind, 2);
  readScalar(reader, list);
  return finishScalarList(list)[0];
}

function decodeDelimited(decoding: Decoding, owner: string, field: Field, message: Record<string, unknown>, depth: number): void {
  const { reader, source } = decoding;
  const value = decodeContent();
  if (field.form === 'single') {
    if (field.kind !== 'string' && field.kind !== 'bytes' && field.name in message)
      throw malformed(`${owner} has the field ${field.name} twice`);
    message[field.name] = value;
    return;
  }
  const list = message[field.name];
  if (Array.isArray(list)) list.push(value);
  else message[field.name] = [value];

  function decodeContent(): unknown {
    if (field.kind === 'string') return reader.string();
    const end = reader.uint32() + reader.pos;
    if (end > reader.len) throw malformed(`${owner}.${field.name} at byte ${reader.pos} is longer than the rest of the message`);
    if (field.kind === 'bytes') {
      const value = source.subarray(reader.pos, end);
      reader.pos = end;
      return value;
    }
    const outer = reader.len;
    reader.len = end;
    const value = decodeFields(decoding, field.kind, depth + 1);
    reader.len = outer;
    return value;
  }
}

function malformed(message: string): OnnxError {
  return new OnnxError('model-malformed', `not an ONNX model: ${message}`, {
    help: 'the file may be truncated or not an ONNX file; export or copy it again',
  });
}
