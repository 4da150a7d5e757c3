/** Encoding of protobuf messages: fields in number order, unknown ones last, so that equal messages give equal bytes. */
import type { Writer } from 'protobufjs';
import protobuf from 'protobufjs/minimal.js';
import { invariant } from '../../../base/invariant.js';
import type { Messages } from '../generated/messages.js';
import type { Field, Message } from '../message.js';
import { getFields, type MessageName, WHOLE_SCHEMA } from './schema.js';

const LENGTH_DELIMITED = 2;
const WIRE: Readonly<Record<string, number>> = { float: 5, double: 1, int32: 0, int64: 0, uint64: 0 };

/** Byte fields of at least this size become separate chunks instead of being copied. */
const LARGE_BYTES = 1 << 16;

/** Absent fields (undefined) and empty lists are not written; all other values are, including defaults. */
export function encodeMessage<Name extends MessageName>(name: Name, message: Messages[Name]): Uint8Array {
  return joinChunks(encodeChunks(name, message));
}

/** The same bytes as chunks in order. Large byte fields are not copied, so writing a model does not copy weights. */
export function encodeChunks<Name extends MessageName>(name: Name, message: Messages[Name]): readonly Uint8Array[] {
  const output = new Output();
  encodeFields(output, name, message);
  return output.finish();
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

/** The output so far: finished chunks, and a writer for small fields. */
class Output {
  writer: Writer = protobuf.Writer.create();
  readonly #chunks: Uint8Array[] = [];

  bytes(value: Uint8Array): void {
    if (value.byteLength < LARGE_BYTES) {
      this.writer.bytes(value);
      return;
    }
    this.writer.uint32(value.byteLength);
    this.#add([value]);
  }

  /** Writes a message with a length prefix. */
  message(chunks: readonly Uint8Array[]): void {
    const [only] = chunks;
    if (chunks.length <= 1) {
      this.bytes(only ?? new Uint8Array());
      return;
    }
    this.writer.uint32(sizeOfChunks(chunks));
    this.#add(chunks);
  }

  finish(): readonly Uint8Array[] {
    this.#add([]);
    return this.#chunks;
  }

  #add(chunks: readonly Uint8Array[]): void {
    if (this.writer.len > 0) {
      const bytes = this.writer.finish();
      this.#chunks.push(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      this.writer = protobuf.Writer.create();
    }
    for (const chunk of chunks) this.#chunks.push(chunk);
  }
}

function encodeFields(output: Output, name: string, message: Message): void {
  if (message.encoded !== undefined) {
    output.writer.raw(message.encoded);
    return;
  }
  const values: { readonly [field: string]: unknown } = { ...message };
  for (const field of getFields(WHOLE_SCHEMA, name)) {
    if (field !== undefined && values[field.name] !== undefined) encodeField(output, field, values[field.name]);
  }
  for (const bytes of message.unknown ?? []) output.writer.raw(bytes);
}

function encodeField(output: Output, field: Field, value: unknown): void {
  if (field.form === 'single') {
    encodeTagged(output, field, value);
    return;
  }
  const values = Array.from(value as Iterable<unknown>);
  if (values.length === 0) return;
  if (field.form === 'repeated') {
    for (const item of values) encodeTagged(output, field, item);
    return;
  }
  const packed = new Output();
  for (const item of values) encodeContent(packed, field, item);
  output.writer.uint32((field.id << 3) | LENGTH_DELIMITED);
  output.message(packed.finish());
}

function encodeTagged(output: Output, field: Field, value: unknown): void {
  output.writer.uint32((field.id << 3) | (WIRE[field.kind] ?? LENGTH_DELIMITED));
  encodeContent(output, field, value);
}

function encodeContent(output: Output, field: Field, value: unknown): void {
  if (typeof value === 'string') output.writer.string(value);
  else if (value instanceof Uint8Array) output.bytes(value);
  else if (typeof value === 'bigint') encodeBigInt(output.writer, value);
  else if (typeof value === 'number') encodeNumber(output.writer, field, value);
  else {
    invariant(typeof value === 'object' && value !== null, `field ${field.name} has a ${typeof value} as value`);
    const inner = new Output();
    encodeFields(inner, field.kind, value);
    output.message(inner.finish());
  }
}

function encodeNumber(writer: Writer, field: Field, value: number): void {
  if (field.kind === 'float') writer.float(value);
  else if (field.kind === 'double') writer.double(value);
  else writer.int32(value);
}

/** As a number if that is exact, else as decimal text, because protobufjs does not support bigint. */
function encodeBigInt(writer: Writer, value: bigint): void {
  const number = Number(value);
  writer.int64(Number.isSafeInteger(number) ? number : BigInt.asIntN(64, value).toString());
}
