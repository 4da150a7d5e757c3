/**
 * Encoding of protobuf messages: fields in number order, unknown ones last, so that equal messages give equal bytes.
 * Messages are written from their end to their start: the length of a message, which precedes it, is then known.
 */
import { getDefined, invariant } from '../../../base/invariant.js';
import type { Messages } from '../generated/messages.js';
import type { Field, Message } from '../message.js';
import { BackwardWriter } from './backward-writer.js';
import { getFields, type MessageName, WHOLE_SCHEMA } from './schema.js';

const LENGTH_DELIMITED = 2;
const WIRE: Readonly<Record<string, number>> = { float: 5, double: 1, int32: 0, int64: 0, uint64: 0 };

/** Absent fields (undefined) and empty lists are not written; all other values are, including defaults. */
export function encodeMessage<Name extends MessageName>(name: Name, message: Messages[Name]): Uint8Array {
  return joinChunks(encodeChunks(name, message));
}

/** The same bytes as chunks in order. Large byte fields are not copied, so writing a model does not copy weights. */
export function encodeChunks<Name extends MessageName>(name: Name, message: Messages[Name]): readonly Uint8Array[] {
  const writer = new BackwardWriter();
  encodeFields(writer, name, message);
  return writer.finish();
}

export function sizeOfChunks(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
}

export function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const bytes = new Uint8Array(sizeOfChunks(chunks));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

function encodeFields(writer: BackwardWriter, name: string, message: Message): void {
  if (message.encoded !== undefined) {
    writer.bytes(message.encoded);
    return;
  }
  const unknown = message.unknown ?? [];
  for (let at = unknown.length - 1; at >= 0; at--) writer.bytes(getDefined(unknown[at], 'unknown field'));
  const values: { readonly [field: string]: unknown } = { ...message };
  const fields = getFields(WHOLE_SCHEMA, name);
  for (let at = fields.length - 1; at >= 0; at--) {
    const field = fields[at];
    if (field !== undefined && values[field.name] !== undefined) encodeField(writer, field, values[field.name]);
  }
}

function encodeField(writer: BackwardWriter, field: Field, value: unknown): void {
  if (field.form === 'single') {
    encodeTagged(writer, field, value);
    return;
  }
  const values = Array.from(value as Iterable<unknown>);
  if (values.length === 0) return;
  if (field.form === 'repeated') {
    for (let at = values.length - 1; at >= 0; at--) encodeTagged(writer, field, values[at]);
    return;
  }
  const end = writer.size;
  for (let at = values.length - 1; at >= 0; at--) encodeContent(writer, field, values[at]);
  writer.varint(writer.size - end);
  writer.varint((field.id << 3) | LENGTH_DELIMITED);
}

function encodeTagged(writer: BackwardWriter, field: Field, value: unknown): void {
  encodeContent(writer, field, value);
  writer.varint((field.id << 3) | (WIRE[field.kind] ?? LENGTH_DELIMITED));
}

function encodeContent(writer: BackwardWriter, field: Field, value: unknown): void {
  if (typeof value === 'bigint') writer.bigVarint(value);
  else if (typeof value === 'number') encodeNumber(writer, field, value);
  else {
    const end = writer.size;
    if (typeof value === 'string') writer.text(value);
    else if (value instanceof Uint8Array) writer.bytes(value);
    else {
      invariant(typeof value === 'object' && value !== null, `field ${field.name} has a ${typeof value} as value`);
      encodeFields(writer, field.kind, value);
    }
    writer.varint(writer.size - end);
  }
}

function encodeNumber(writer: BackwardWriter, field: Field, value: number): void {
  if (field.kind === 'float') writer.float(value);
  else if (field.kind === 'double') writer.double(value);
  else if (value < 0) writer.bigVarint(BigInt(value | 0));
  else writer.varint(value >>> 0);
}
