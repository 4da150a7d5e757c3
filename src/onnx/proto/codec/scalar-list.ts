/** Decoding of repeated numbers, packed or single, into one typed array. */
import type { Reader } from 'protobufjs';

export type NumberKind = 'float' | 'double' | 'int32' | 'int64' | 'uint64';
export type NumberArray = Float32Array | Float64Array | Int32Array | BigInt64Array | BigUint64Array;

/** A typed array that grows by doubling. It is stored as bytes so that 64-bit integers can be written as two halves. */
export interface ScalarList {
  readonly kind: NumberKind;
  bytes: Uint8Array<ArrayBuffer>;
  words: Uint32Array;
  length: number;
}

interface NumberFacts {
  readonly size: 4 | 8;
  readonly wire: 0 | 1 | 5;
  readonly view: (buffer: ArrayBuffer, length: number) => NumberArray;
}

export const NUMBERS: Readonly<Record<NumberKind, NumberFacts>> = {
  float: { size: 4, wire: 5, view: (buffer, length) => new Float32Array(buffer, 0, length) },
  double: { size: 8, wire: 1, view: (buffer, length) => new Float64Array(buffer, 0, length) },
  int32: { size: 4, wire: 0, view: (buffer, length) => new Int32Array(buffer, 0, length) },
  int64: { size: 8, wire: 0, view: (buffer, length) => new BigInt64Array(buffer, 0, length) },
  uint64: { size: 8, wire: 0, view: (buffer, length) => new BigUint64Array(buffer, 0, length) },
};

export function makeScalarList(kind: NumberKind, capacity: number): ScalarList {
  const bytes = new Uint8Array(capacity * NUMBERS[kind].size);
  return { kind, bytes, words: new Uint32Array(bytes.buffer), length: 0 };
}

/** The numbers read so far; shares memory with the list. */
export function finishScalarList(list: ScalarList): NumberArray {
  return NUMBERS[list.kind].view(list.bytes.buffer, list.length);
}

/** Reads one value. @throws Error at the end of the reader. */
export function readScalar(reader: Reader, list: ScalarList): void {
  reserve(list, 1);
  readInto(reader, list);
}

/** Reads a packed field with its length prefix. @throws Error if the field is longer than the message or ends inside a value. */
export function readPacked(reader: Reader, list: ScalarList): void {
  const end = reader.uint32() + reader.pos;
  if (end > reader.len) throw new RangeError('a packed field is longer than its message');
  const { size, wire } = NUMBERS[list.kind];
  if (wire !== 0) {
    if ((end - reader.pos) % size !== 0) throw new RangeError('a packed field ends inside a value');
    reserve(list, (end - reader.pos) / size);
    list.bytes.set(reader.buf.subarray(reader.pos, end), list.length * size);
    list.length += (end - reader.pos) / size;
    reader.pos = end;
    return;
  }
  reserve(list, countVarints(reader.buf, reader.pos, end));
  while (reader.pos < end) readInto(reader, list);
  if (reader.pos !== end) throw new RangeError('a packed field ends inside a value');
}

function readInto(reader: Reader, list: ScalarList): void {
  const { size, wire } = NUMBERS[list.kind];
  if (wire === 0) readVarint(reader, list.words, list.length * (size / 4), size);
  else {
    if (reader.pos + size > reader.len) throw new RangeError('a number is truncated');
    list.bytes.set(reader.buf.subarray(reader.pos, reader.pos + size), list.length * size);
    reader.pos += size;
  }
  list.length++;
}

/** Varint of up to ten bytes; the low 32 bits go to words[index], for `size` 8 the high ones to words[index + 1]. */
function readVarint(reader: Reader, words: Uint32Array, index: number, size: number): void {
  const { buf, len } = reader;
  let low = 0;
  let high = 0;
  for (let shift = 0; shift < 70; shift += 7) {
    if (reader.pos >= len) throw new RangeError('a number is truncated');
    const byte = buf[reader.pos++] ?? 0;
    const bits = byte & 127;
    if (shift < 28) low |= bits << shift;
    else if (shift === 28) {
      low |= bits << 28;
      high = bits >>> 4;
    } else high |= bits << (shift - 32);
    if (byte < 128) {
      words[index] = low;
      if (size === 8) words[index + 1] = high;
      return;
    }
  }
  throw new RangeError('a number has more than ten bytes');
}

function countVarints(bytes: Uint8Array, from: number, to: number): number {
  let count = 0;
  for (let i = from; i < to; i++) if ((bytes[i] ?? 0) < 128) count++;
  return count;
}

/** Reserves space for `more` values: exactly for the first chunk, then by doubling. One spare value leaves space for a truncated varint. */
function reserve(list: ScalarList, more: number): void {
  const { size } = NUMBERS[list.kind];
  const needed = (list.length + more + 1) * size;
  if (needed <= list.bytes.length) return;
  const grown = new Uint8Array(Math.max(needed, list.length === 0 ? 0 : 2 * list.bytes.length));
  grown.set(list.bytes);
  list.bytes = grown;
  list.words = new Uint32Array(grown.buffer);
}
