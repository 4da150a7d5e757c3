/** Reading and writing of zip archives. All entries of the central directory are checked before any is read. Source: PKWARE APPNOTE 6.3.10. */
import { crc32, inflateRawSync } from 'node:zlib';
import { TensorError } from '../tensor-error.js';
import { ByteCursor } from './byte-cursor.js';

export interface ZipEntry {
  readonly name: string;
  readonly method: 'stored' | 'deflated';
  readonly crc32: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
  /** Offset of the compressed bytes in the archive. */
  readonly start: number;
}

export interface ZipArchive {
  readonly bytes: Uint8Array;
  readonly entries: ReadonlyMap<string, ZipEntry>;
}

const END_OF_DIRECTORY = 0x06054b50;
const END_OF_DIRECTORY_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const DIRECTORY_HEADER = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const END_BYTES = 22;
const LOCATOR_BYTES = 20;
/** Maximum expansion factor of a deflate stream. */
const MAX_EXPANSION = 1032;
/** Maximum uncompressed size of all deflated entries together: few bytes expand a thousand times. */
const MAX_INFLATED_BYTES = 2 ** 32;

/** 'paths': relative paths without "..", backslash or NUL. 'keys': any text but NUL, as no file is named after an entry. */
export type EntryNames = 'paths' | 'keys';

/**
 * Reads the directory. Entries must not overlap.
 * @throws TensorError `truncated` (no directory, or an entry that extends beyond the next one or the end), `entry-name`, `zip-malformed`, `zip-unsupported`.
 */
export function openZip(bytes: Uint8Array, names: EntryNames = 'paths'): ZipArchive {
  const directory = findDirectory(bytes);
  const cursor = new ByteCursor(bytes.subarray(0, directory.end), 'the zip directory', directory.start);
  const headers: DirectoryHeader[] = [];
  while (headers.length < directory.count) headers.push(takeDirectoryHeader(cursor));
  for (const header of headers) checkName(header.name, names);
  headers.sort((a, b) => a.offset - b.offset);
  const entries = new Map<string, ZipEntry>();
  for (const [index, header] of headers.entries()) {
    const next = headers[index + 1]?.offset ?? directory.start;
    if (entries.has(header.name)) throw new TensorError('zip-malformed', `the archive has two entries named "${header.name}"`);
    if (!header.name.endsWith('/')) entries.set(header.name, locateEntry(bytes, header, next));
  }
  assertTotal(entries.values());
  return { bytes, entries };
}

function assertTotal(entries: Iterable<ZipEntry>): void {
  let total = 0;
  for (const { method, sizeBytes } of entries) if (method === 'deflated') total += sizeBytes;
  if (total > MAX_INFLATED_BYTES)
    throw new TensorError('zip-unsupported', `the deflated entries would expand to ${total} bytes, the limit is ${MAX_INFLATED_BYTES}`);
}

/**
 * The bytes of an entry: a view if it is stored, else inflated to at most the size in the directory.
 * `crc: 'ignore'` is for torch, which may write records without checksums.
 * @throws TensorError `zip-malformed` (wrong size or stream), `checksum`.
 */
export function readZipEntry(archive: ZipArchive, entry: ZipEntry, options: { crc: 'check' | 'ignore' }): Uint8Array {
  const packed = archive.bytes.subarray(entry.start, entry.start + entry.packedBytes);
  const bytes = entry.method === 'stored' ? packed : inflate(entry, packed);
  if (options.crc === 'check' && crc32(bytes) !== entry.crc32) {
    throw new TensorError('checksum', `entry "${entry.name}": the CRC-32 of its bytes differs from that in the directory`);
  }
  return bytes;
}

/** An uncompressed archive with fixed times: equal entries give equal bytes. */
export function encodeZip(entries: Iterable<readonly [name: string, bytes: Uint8Array]>, names: EntryNames = 'paths'): Uint8Array {
  const chunks: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const [name, bytes] of entries) {
    checkName(name, names);
    const facts = { name: new TextEncoder().encode(name), crc: crc32(bytes), size: bytes.length, offset };
    const header = encodeHeader(LOCAL_HEADER, facts);
    directory.push(encodeHeader(DIRECTORY_HEADER, facts));
    chunks.push(header, bytes);
    offset += header.length + bytes.length;
  }
  const directoryBytes = directory.reduce((sum, chunk) => sum + chunk.length, 0);
  if (offset + directoryBytes > 0xffffffff || directory.length > 0xffff) {
    throw new TensorError('zip-unsupported', `the archive would have ${offset} bytes; the limits are 4 GiB and 65,535 entries`);
  }
  const end = new DataView(new ArrayBuffer(END_BYTES));
  end.setUint32(0, END_OF_DIRECTORY, true);
  end.setUint16(8, directory.length, true);
  end.setUint16(10, directory.length, true);
  end.setUint32(12, directoryBytes, true);
  end.setUint32(16, offset, true);
  return Buffer.concat([...chunks, ...directory, new Uint8Array(end.buffer)]);
}

interface DirectoryHeader {
  readonly name: string;
  readonly method: number;
  readonly flags: number;
  readonly crc32: number;
  readonly packedBytes: number;
  readonly sizeBytes: number;
  readonly offset: number;
}

function findDirectory(bytes: Uint8Array): { start: number; end: number; count: number } {
  const end = findEndRecord(bytes);
  const cursor = new ByteCursor(bytes, 'the zip archive', end + 4);
  const [disk, directoryDisk, , count] = [cursor.takeUint16(), cursor.takeUint16(), cursor.takeUint16(), cursor.takeUint16()];
  if (disk !== 0 && disk !== 0xffff) throw new TensorError('zip-unsupported', 'multi-disk archives are not supported');
  const [size, start] = [cursor.takeUint32(), cursor.takeUint32()];
  const is64 = count === 0xffff || size === 0xffffffff || start === 0xffffffff || directoryDisk === 0xffff;
  const directory = is64 ? readEndRecord64(bytes, end) : { start, end: start + size, count };
  if (directory.end > end || directory.start > directory.end)
    throw new TensorError('truncated', 'the zip directory extends beyond the end of the archive');
  return directory;
}

function findEndRecord(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const lowest = Math.max(0, bytes.length - END_BYTES - 0xffff);
  for (let at = bytes.length - END_BYTES; at >= lowest; at--) {
    if (view.getUint32(at, true) === END_OF_DIRECTORY && at + END_BYTES + view.getUint16(at + 20, true) === bytes.length) return at;
  }
  throw new TensorError('truncated', 'the zip archive has no central directory: the file is truncated');
}

function readEndRecord64(bytes: Uint8Array, end: number): { start: number; end: number; count: number } {
  const locator = new ByteCursor(bytes, 'the zip archive', Math.max(0, end - LOCATOR_BYTES));
  if (locator.takeUint32() !== LOCATOR_64) throw new TensorError('zip-malformed', 'the zip64 locator is missing');
  locator.skip(4);
  const cursor = new ByteCursor(bytes, 'the zip archive', locator.takeSize());
  if (cursor.takeUint32() !== END_OF_DIRECTORY_64) throw new TensorError('zip-malformed', 'the zip64 end record is missing');
  cursor.skip(28);
  const [count, size, start] = [cursor.takeSize(), cursor.takeSize(), cursor.takeSize()];
  return { start, end: start + size, count };
}

function takeDirectoryHeader(cursor: ByteCursor): DirectoryHeader {
  if (cursor.takeUint32() !== DIRECTORY_HEADER)
    throw new TensorError('zip-malformed', 'the zip directory has an entry with a wrong signature');
  cursor.skip(4);
  const [flags, method] = [cursor.takeUint16(), cursor.takeUint16()];
  cursor.skip(4);
  const [crc, packed, size] = [cursor.takeUint32(), cursor.takeUint32(), cursor.takeUint32()];
  const [nameBytes, extraBytes, commentBytes] = [cursor.takeUint16(), cursor.takeUint16(), cursor.takeUint16()];
  cursor.skip(8);
  const offset = cursor.takeUint32();
  const name = flags & 0x800 ? cursor.takeUtf8(nameBytes) : cursor.takeLatin1(nameBytes);
  const wide = findZip64(new ByteCursor(cursor.take(extraBytes), `the extra field of "${name}"`));
  cursor.skip(commentBytes);
  const widen = (value: number): number => (value === 0xffffffff && wide !== undefined ? wide.takeSize() : value);
  const sizeBytes = widen(size);
  const packedBytes = widen(packed);
  return { name, method, flags, crc32: crc, sizeBytes, packedBytes, offset: widen(offset) };
}

/** The zip64 extra field (id 1), if present. */
function findZip64(extra: ByteCursor): ByteCursor | undefined {
  while (extra.position + 4 <= extra.bytes.length) {
    const [id, length] = [extra.takeUint16(), extra.takeUint16()];
    const field = extra.take(length);
    if (id === 1) return new ByteCursor(field, extra.what);
  }
  return undefined;
}

/** Checks that an extracted entry would stay inside the target folder, unless names are keys. */
function checkName(name: string, names: EntryNames): void {
  const isKey = names === 'keys' && name !== '' && !name.includes('\0');
  const isSafe = isKey || (name !== '' && !/[\\\0]|^\/|^[A-Za-z]:/.test(name) && !name.split('/').includes('..'));
  if (!isSafe)
    throw new TensorError(
      'entry-name',
      `the archive has an entry named ${JSON.stringify(name)}, which is outside the folder of the archive`,
    );
}

function locateEntry(bytes: Uint8Array, header: DirectoryHeader, next: number): ZipEntry {
  const { name, packedBytes, sizeBytes } = header;
  if (header.flags & 1) throw new TensorError('zip-unsupported', `entry "${name}" is encrypted`);
  if (header.method !== 0 && header.method !== 8)
    throw new TensorError('zip-unsupported', `entry "${name}" has compression method ${header.method}; supported are 0 and 8`);
  const cursor = new ByteCursor(bytes, `the archive at entry "${name}"`, header.offset);
  if (cursor.takeUint32() !== LOCAL_HEADER)
    throw new TensorError('zip-malformed', `entry "${name}": no local header at offset ${header.offset}`);
  cursor.skip(22);
  cursor.skip(cursor.takeUint16() + cursor.takeUint16());
  const start = cursor.position;
  if (start + packedBytes > next) {
    const there = Math.max(0, next - start);
    throw new TensorError('truncated', `entry "${name}" needs ${packedBytes} bytes, but only ${there} are available before the next entry`);
  }
  const method = header.method === 0 ? 'stored' : 'deflated';
  if (method === 'stored' ? sizeBytes !== packedBytes : sizeBytes > packedBytes * MAX_EXPANSION) {
    throw new TensorError('zip-malformed', `entry "${name}" states ${sizeBytes} bytes for ${packedBytes} ${method} ones`);
  }
  return { name, method, crc32: header.crc32, packedBytes, sizeBytes, start };
}

function inflate(entry: ZipEntry, packed: Uint8Array): Uint8Array {
  if (entry.sizeBytes === 0) return new Uint8Array(0);
  let bytes: Uint8Array;
  try {
    bytes = inflateRawSync(packed, { maxOutputLength: entry.sizeBytes });
  } catch (error) {
    throw new TensorError('zip-malformed', `entry "${entry.name}" does not inflate to its ${entry.sizeBytes} bytes`, { cause: error });
  }
  if (bytes.length !== entry.sizeBytes) {
    throw new TensorError(
      'zip-malformed',
      `entry "${entry.name}" inflates to ${bytes.length} bytes, the directory states ${entry.sizeBytes}`,
    );
  }
  return bytes;
}

function encodeHeader(signature: number, facts: { name: Uint8Array; crc: number; size: number; offset: number }): Uint8Array {
  const isLocal = signature === LOCAL_HEADER;
  const fixed = isLocal ? 30 : 46;
  const bytes = new Uint8Array(fixed + facts.name.length);
  const view = new DataView(bytes.buffer);
  const shared = isLocal ? 4 : 6;
  view.setUint32(0, signature, true);
  if (!isLocal) view.setUint16(4, 20, true);
  view.setUint16(shared, 20, true);
  view.setUint16(shared + 2, 0x800, true);
  view.setUint16(shared + 8, 0x21, true); // 1980-01-01, the earliest date there is
  view.setUint32(shared + 10, facts.crc, true);
  view.setUint32(shared + 14, facts.size, true);
  view.setUint32(shared + 18, facts.size, true);
  view.setUint16(shared + 22, facts.name.length, true);
  if (!isLocal) view.setUint32(42, facts.offset, true);
  bytes.set(facts.name, fixed);
  return bytes;
}
