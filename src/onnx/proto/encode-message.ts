/** How do messages become protobuf bytes? Fields in number order, unknown ones last: equal messages give equal bytes. */
import type { Writer } from 'protobufjs';
import protobuf from 'protobufjs/minimal.js';
import { invariant } from '../../base/invariant.js';
import type { Messages } from './generated/messages.js';
import type { Field, Message } from './message.js';
import { getFields, type MessageName, WHOLE_SCHEMA } from './schema.js';

const LENGTH_DELIMITED = 2;
const WIRE: Readonly<Record<string, number>> = { float: 5, double: 1, int32: 0, int64: 0, uint64: 0 };

/** Absent fields (undefined) are not written, empty lists neither; every other value is, defaults too. */
export function encodeMessage<Name extends MessageName>(name: Name, message: Messages[Name]): Uint8Array {
  const writer = protobuf.Writer.create();
  encodeFields(writer, name, message);
  const bytes = writer.finish();
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function encodeFields(writer: Writer, name: string, message: Message): void {
  if (message.encoded !== undefined) {
    writer.raw(message.encoded);
    return;
  }
  const values: { readonly [field: string]: unknown } = { ...message };
  for (const field of getFields(WHOLE_SCHEMA, name)) {
    if (field !== undefined && values[field.name] !== undefined) encodeField(writer, field, values[field.name]);
  }
  for (const bytes of message.unknown ?? []) writer.raw(bytes);
}

function encodeField(writer: Writer, field: Field, value: unknown): void {
  if (field.form === 'single') {
    encodeTagged(writer, field, value);
    return;
  }
  const values = Array.from(value as Iterable<unknown>);
  if (values.length === 0) return;
  if (field.form === 'repeated') {
    for (const item of values) encodeTagged(writer, field, item);
    return;
  }
  writer.uint32((field.id << 3) | LENGTH_DELIMITED).fork();
  for (const item of values) encodeContent(writer, field, item);
  writer.ldelim();
}

function encodeTagged(writer: Writer, field: Field, value: unknown): void {
  writer.uint32((field.id << 3) | (WIRE[field.kind] ?? LENGTH_DELIMITED));
  encodeContent(writer, field, value);
}

function encodeContent(writer: Writer, field: Field, value: unknown): void {
  if (typeof value === 'string') writer.string(value);
  else if (value instanceof Uint8Array) writer.bytes(value);
  else if (typeof value === 'bigint') encodeBigInt(writer, value);
  else if (typeof value === 'number') encodeNumber(writer, field, value);
  else {
    invariant(typeof value === 'object' && value !== null, `field ${field.name} has a ${typeof value} as value`);
    writer.fork();
    encodeFields(writer, field.kind, value);
    writer.ldelim();
  }
}

function encodeNumber(writer: Writer, field: Field, value: number): void {
  if (field.kind === 'float') writer.float(value);
  else if (field.kind === 'double') writer.double(value);
  else writer.int32(value);
}

/** Through a number where that is exact, else through decimal text: protobufjs takes no bigint. */
function encodeBigInt(writer: Writer, value: bigint): void {
  const number = Number(value);
  writer.int64(Number.isSafeInteger(number) ? number : BigInt.asIntN(64, value).toString());
}
