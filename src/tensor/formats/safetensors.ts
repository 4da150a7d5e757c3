/** The .safetensors format: a JSON header and one buffer without gaps. Source: the format description of huggingface/safetensors. */
import { writeFile } from 'node:fs/promises';
import { byteLength, DTYPES } from '../dtype.js';
import { makeRawTensor } from '../raw-tensor.js';
import { countElements } from '../shape.js';
import type { RawTensor } from '../tensor.js';
import { TensorError } from '../tensor-error.js';
import { ByteCursor } from './byte-cursor.js';

const MAX_HEADER_BYTES = 100_000_000;

const NAMES = {
  bool: 'BOOL',
  uint8: 'U8',
  int8: 'I8',
  uint16: 'U16',
  int16: 'I16',
  uint32: 'U32',
  int32: 'I32',
  uint64: 'U64',
  int64: 'I64',
  float16: 'F16',
  bfloat16: 'BF16',
  float32: 'F32',
  float64: 'F64',
  complex64: 'C64',
  float8e4m3fn: 'F8_E4M3',
  float8e5m2: 'F8_E5M2',
  float8e8m0: 'F8_E8M0',
} as const;

type StoredDType = keyof typeof NAMES;

const BY_NAME = new Map<string, StoredDType>(Object.entries(NAMES).map(([dtype, name]) => [name, dtype as StoredDType]));

export interface Safetensors {
  /** Views of the bytes of the file, in the order of the header. */
  readonly tensors: ReadonlyMap<string, RawTensor>;
  readonly metadata: ReadonlyMap<string, string>;
}

/** @throws TensorError `truncated`, `safetensors-malformed` (header, offsets, overlaps, gaps), `safetensors-unsupported` (dtype). */
export function decodeSafetensors(bytes: Uint8Array): Safetensors {
  const cursor = new ByteCursor(bytes, 'the .safetensors file');
  const headerBytes = cursor.takeSize();
  if (headerBytes > MAX_HEADER_BYTES) throw malformed(`the header has ${headerBytes} bytes; the format allows ${MAX_HEADER_BYTES}`);
  const header = parseHeader(cursor.takeUtf8(headerBytes));
  const buffer = bytes.subarray(cursor.position);
  const entries = [...header].filter(([name]) => name !== '__metadata__').map(([name, entry]) => [name, parseEntry(name, entry)] as const);
  checkCoverage(entries, buffer.length);
  const tensors = entries.map(
    ([name, { dtype, shape, begin, end }]) => [name, makeEntry(name, dtype, shape, buffer.subarray(begin, end))] as const,
  );
  return { tensors: new Map(tensors), metadata: parseMetadata(header.get('__metadata__')) };
}

/** Encodes tensors by decreasing alignment, then by name, in the order of the reference writer: equal input gives equal bytes. @throws TensorError `safetensors-unsupported`. */
export function encodeSafetensors(tensors: ReadonlyMap<string, RawTensor>, metadata: ReadonlyMap<string, string> = new Map()): Uint8Array {
  const ordered = [...tensors].sort(([a, x], [b, y]) => DTYPES[y.dtype].bits - DTYPES[x.dtype].bits || (a < b ? -1 : 1));
  const header: [string, unknown][] = metadata.size === 0 ? [] : [['__metadata__', Object.fromEntries([...metadata].sort())]];
  let offset = 0;
  for (const [name, { dtype, dims, bytes }] of ordered) {
    if (!(dtype in NAMES)) throw new TensorError('safetensors-unsupported', `tensor "${name}": .safetensors has no dtype ${dtype}`);
    header.push([name, { dtype: NAMES[dtype as StoredDType], shape: dims, data_offsets: [offset, offset + bytes.length] }]);
    offset += bytes.length;
  }
  // Written member by member, because an object would put integer-like names first.
  const text = `{${header.map(([name, entry]) => `${JSON.stringify(name)}:${JSON.stringify(entry)}`).join(',')}}`;
  const json = Buffer.from(text, 'utf8');
  const padded = Math.ceil(json.length / 8) * 8;
  const start = new Uint8Array(8 + padded).fill(0x20);
  new DataView(start.buffer).setBigUint64(0, BigInt(padded), true);
  start.set(json, 8);
  return Buffer.concat([start, ...ordered.map(([, tensor]) => tensor.bytes)]);
}

export async function writeSafetensors(
  path: string,
  tensors: ReadonlyMap<string, RawTensor>,
  metadata?: ReadonlyMap<string, string>,
): Promise<void> {
  await writeFile(path, encodeSafetensors(tensors, metadata));
}

interface Entry {
  readonly dtype: StoredDType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

function parseHeader(text: string): Map<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (error) {
    throw new TensorError('safetensors-malformed', 'the .safetensors header is not JSON', { cause: error });
  }
  if (!isRecord(header)) throw malformed('the header is not a JSON object');
  return new Map(Object.entries(header));
}

function parseEntry(name: string, entry: unknown): Entry {
  if (!isRecord(entry)) throw malformed(`tensor "${name}" has no entry with dtype, shape and data_offsets`);
  const { dtype: letters, shape, data_offsets: offsets } = entry;
  if (!isSizes(shape) || !isSizes(offsets) || offsets.length !== 2)
    throw malformed(`tensor "${name}": shape and data_offsets must be lists of integers ≥ 0`);
  const dtype = BY_NAME.get(String(letters));
  if (dtype === undefined)
    throw new TensorError('safetensors-unsupported', `tensor "${name}" has dtype "${String(letters)}", which is not supported`);
  const [begin = 0, end = 0] = offsets;
  return { dtype, shape, begin, end };
}

/** Checks that every byte of the buffer belongs to exactly one tensor. */
function checkCoverage(entries: readonly (readonly [string, Entry])[], bufferBytes: number): void {
  const sorted = [...entries].sort(([, a], [, b]) => a.begin - b.begin || a.end - b.end);
  let covered = 0;
  for (const [name, { begin, end }] of sorted) {
    if (begin !== covered || end < begin)
      throw malformed(`tensor "${name}" is at bytes ${begin} to ${end}, but the previous one ends at ${covered}`);
    if (end > bufferBytes)
      throw new TensorError('truncated', `tensor "${name}" ends at byte ${end} of a buffer of ${bufferBytes}`, {
        help: 'the file is truncated: copy it again',
      });
    covered = end;
  }
  if (covered !== bufferBytes) throw malformed(`${bufferBytes - covered} bytes at the end belong to no tensor`);
}

function makeEntry(name: string, dtype: StoredDType, shape: readonly number[], bytes: Uint8Array): RawTensor {
  const expected = byteLength(dtype, countElements(shape));
  if (expected !== bytes.length)
    throw malformed(`tensor "${name}": ${dtype} [${shape.join(', ')}] needs ${expected} bytes, but data_offsets give ${bytes.length}`);
  return makeRawTensor(dtype, shape, bytes);
}

function parseMetadata(metadata: unknown): ReadonlyMap<string, string> {
  if (metadata === undefined) return new Map();
  if (!isRecord(metadata) || !Object.values(metadata).every(value => typeof value === 'string'))
    throw malformed('__metadata__ must map names to strings');
  return new Map(Object.entries(metadata).map(([key, value]) => [key, String(value)]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(item => Number.isSafeInteger(item) && item >= 0);
}

function malformed(reason: string): TensorError {
  return new TensorError('safetensors-malformed', `the .safetensors file is malformed: ${reason}`);
}
