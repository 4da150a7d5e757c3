/**
 * Protobuf messages by field tables. The encoding is canonical: fields in the order of their numbers, default values left out, nothing
 * unknown. Digests of messages are digests of these bytes.
 */
import type { Reader, Writer } from 'protobufjs';
import protobuf from 'protobufjs/minimal.js';
import { broken } from '../error/remote-error.js';

type ScalarKind = 'string' | 'bytes' | 'int' | 'bool';

/** `int` is an int32, int64 or enum whose value is a safe integer. */
interface ScalarField<Kind extends ScalarKind, Form extends 'one' | 'list'> {
  readonly number: number;
  readonly kind: Kind;
  readonly form: Form;
}

interface MessageField<Value, Form extends 'one' | 'list'> {
  readonly number: number;
  readonly kind: 'message';
  readonly form: Form;
  readonly of: Message<Value>;
}

type Field = ScalarField<ScalarKind, 'one' | 'list'> | MessageField<unknown, 'one' | 'list'>;

/** The fields of a message by name, in the order of their numbers. */
export type Fields = Readonly<Record<string, Field>>;

interface ScalarValues {
  readonly string: string;
  readonly bytes: Uint8Array;
  readonly int: number;
  readonly bool: boolean;
}

type ValueOf<F> =
  F extends MessageField<infer Value, 'list'>
    ? readonly Value[]
    : F extends MessageField<infer Value, 'one'>
      ? Value | undefined
      : F extends ScalarField<infer Kind, 'list'>
        ? readonly ScalarValues[Kind][]
        : F extends ScalarField<infer Kind, 'one'>
          ? ScalarValues[Kind]
          : never;

/** A decoded message: every field is set, with the default value if the bytes lack it. */
type Decoded<F extends Fields> = { readonly [Name in keyof F]: ValueOf<F[Name]> };

export interface Message<Value> {
  /** Fields that are left out have their default value. */
  encode(value: Partial<Value>): Uint8Array;
  /** @throws RemoteError `remote-broken` if the bytes are not a message. Fields that the table does not list are ignored. */
  decode(bytes: Uint8Array): Value;
  readonly fields: Fields;
}

export type Of<M> = M extends Message<infer Value> ? Value : never;

function scalar<Kind extends ScalarKind>(kind: Kind) {
  return (number: number): ScalarField<Kind, 'one'> => ({ number, kind, form: 'one' });
}

export const text = scalar('string');
export const bytes = scalar('bytes');
export const int = scalar('int');
export const bool = scalar('bool');

export function list<Kind extends ScalarKind>(number: number, kind: Kind): ScalarField<Kind, 'list'> {
  return { number, kind, form: 'list' };
}

export function one<Value>(number: number, of: Message<Value>): MessageField<Value, 'one'> {
  return { number, kind: 'message', form: 'one', of };
}

export function many<Value>(number: number, of: Message<Value>): MessageField<Value, 'list'> {
  return { number, kind: 'message', form: 'list', of };
}

/** Deeper messages are refused; the deepest of the protocol has five levels. */
const MAX_DEPTH = 20;

const WIRE = { string: 2, bytes: 2, message: 2, int: 0, bool: 0 } as const;
const DELIMITED = 2;

export function message<const F extends Fields>(fields: F): Message<Decoded<F>> {
  const byNumber = new Map(Object.entries(fields).map(([name, field]) => [field.number, { name, field }]));
  return {
    fields,
    encode(value) {
      const writer = protobuf.Writer.create();
      write(writer, fields, value);
      return writer.finish();
    },
    decode(source) {
      const reader = protobuf.Reader.create(Buffer.from(source.buffer, source.byteOffset, source.byteLength));
      try {
        return read(reader, fields, byNumber, 0) as Decoded<F>;
      } catch (error) {
        throw broken(`a message cannot be read: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
  };
}

function write(writer: Writer, fields: Fields, value: Readonly<Record<string, unknown>>): void {
  for (const [name, field] of Object.entries(fields)) {
    const found = value[name];
    if (found === undefined) continue;
    if (field.form === 'one') writeOne(writer, field, found, 'unless default');
    else if (field.kind === 'int') writePacked(writer, field.number, found as readonly number[]);
    else for (const item of found as readonly unknown[]) writeOne(writer, field, item, 'always');
  }
}

function writePacked(writer: Writer, number: number, values: readonly number[]): void {
  if (values.length === 0) return;
  writer.uint32((number << 3) | DELIMITED).fork();
  for (const value of values) writer.int64(value);
  writer.ldelim();
}

function writeOne(writer: Writer, field: Field, value: unknown, when: 'always' | 'unless default'): void {
  const { number } = field;
  if (field.kind === 'message') {
    writer.uint32((number << 3) | DELIMITED).fork();
    write(writer, field.of.fields, value as Readonly<Record<string, unknown>>);
    writer.ldelim();
    return;
  }
  if (when === 'unless default' && isDefault(value)) return;
  writer.uint32((number << 3) | WIRE[field.kind]);
  if (field.kind === 'string') writer.string(String(value));
  else if (field.kind === 'bytes') writer.bytes(value as Uint8Array);
  else if (field.kind === 'bool') writer.bool(value === true);
  else writer.int64(Number(value));
}

function isDefault(value: unknown): boolean {
  return value === 0 || value === '' || value === false || (value instanceof Uint8Array && value.length === 0);
}

type ByNumber = ReadonlyMap<number, { readonly name: string; readonly field: Field }>;

/** Reads fields up to `reader.len`. */
function read(reader: Reader, fields: Fields, byNumber: ByNumber, depth: number): Record<string, unknown> {
  if (depth > MAX_DEPTH) throw new Error(`messages are nested deeper than ${MAX_DEPTH}`);
  const found: Record<string, unknown> = {};
  const lists: Record<string, unknown[]> = {};
  for (const [name, { form, kind }] of Object.entries(fields)) {
    if (form === 'list') found[name] = lists[name] = [];
    else if (kind !== 'message') found[name] = DEFAULTS[kind];
  }
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const known = byNumber.get(tag >>> 3);
    const wire = tag & 7;
    if (known === undefined || !accepts(known.field, wire)) {
      reader.skipType(wire);
      continue;
    }
    const { name, field } = known;
    const items = lists[name];
    if (field.kind === 'int' && wire === DELIMITED) for (const item of readPacked(reader)) items?.push(item);
    else if (items === undefined) found[name] = readOne(reader, field, depth);
    else items.push(readOne(reader, field, depth));
  }
  if (reader.pos !== reader.len) throw new Error('it ends inside a field');
  return found;
}

const DEFAULTS = { string: '', bytes: new Uint8Array(0), int: 0, bool: false } as const;

function accepts({ kind, form }: Field, wire: number): boolean {
  return wire === WIRE[kind] || (kind === 'int' && form === 'list' && wire === DELIMITED);
}

function readPacked(reader: Reader): readonly number[] {
  const end = reader.uint32() + reader.pos;
  if (end > reader.len) throw new Error('it ends inside a field');
  const values: number[] = [];
  while (reader.pos < end) values.push(safeInteger(reader));
  return values;
}

function readOne(reader: Reader, field: Field, depth: number): unknown {
  switch (field.kind) {
    case 'string':
      return reader.string();
    case 'bytes':
      return reader.bytes();
    case 'bool':
      return reader.bool();
    case 'int':
      return safeInteger(reader);
    default: {
      const length = reader.uint32();
      const end = reader.pos + length;
      if (end > reader.len) throw new Error('it ends inside a field');
      const inner = protobuf.Reader.create(reader.buf.subarray(reader.pos, end));
      reader.pos = end;
      return readInner(inner, field.of, depth + 1);
    }
  }
}

function readInner(reader: Reader, of: Message<unknown>, depth: number): unknown {
  const byNumber = new Map(Object.entries(of.fields).map(([name, field]) => [field.number, { name, field }]));
  return read(reader, of.fields, byNumber, depth);
}

function safeInteger(reader: Reader): number {
  const value = Number(reader.int64());
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a safe integer`);
  return value;
}
