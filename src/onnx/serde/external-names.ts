/** Names of external data: the usual ones, and those that a model file states, found without decoding it: bytes of weights are skipped, not read. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { posix } from 'node:path';

/** What follows the model's name: torch.onnx writes `model.onnx.data`, ONNX Runtime's and Hugging Face's tools `model.onnx_data`. */
export const EXTERNAL_DATA_SUFFIXES: readonly string[] = ['.data', '_data'];

/** The reason why a location could be outside the folder of the model, if any. Backslashes and drive letters are checked on every operating system. */
export function findUnsafeReason(location: string): string | undefined {
  if (location === '') return 'is empty';
  if (location.includes('\0')) return 'contains a zero byte';
  if (/^[/\\]|^[A-Za-z]:/.test(location)) return 'is absolute';
  if (location.split(/[/\\]/).includes('..')) return 'leaves the folder with ".."';
  return undefined;
}

/** A location in one spelling: "./weights\\a.bin" becomes "weights/a.bin". */
export function normalizeLocation(location: string): string {
  return posix.normalize(location.replaceAll('\\', '/'));
}

/** Message fields that lead to external data, by field number (onnx.proto). All other fields are skipped. */
const FIELDS = {
  model: { 7: 'graph', 20: 'training', 25: 'function' },
  training: { 1: 'graph', 2: 'graph' },
  function: { 7: 'node', 11: 'attribute' },
  graph: { 1: 'node', 5: 'tensor', 15: 'sparse' },
  node: { 5: 'attribute' },
  attribute: { 5: 'tensor', 6: 'graph', 10: 'tensor', 11: 'graph', 22: 'sparse', 23: 'sparse' },
  sparse: { 1: 'tensor', 2: 'tensor' },
  tensor: { 13: 'entry' },
} as const satisfies Record<string, Readonly<Record<number, string>>>;

type MessageKind = keyof typeof FIELDS;

/** The limit of protobuf for nested messages. */
const MAX_DEPTH = 100;

/** More files than any exporter writes. A model with more names none. */
const MAX_FILES = 10_000;

/** Longer than any path that a file system accepts. */
const MAX_TEXT_BYTES = 1 << 16;

/**
 * The files that tensors of the model refer to: paths relative to its folder, with forward slashes, sorted, each once.
 * Locations that could lead out of the folder are left out, and so is everything after bytes that are not a message: decoding the model reports both.
 * Returns an empty list for a file that cannot be read.
 */
export function listExternalLocations(path: string): readonly string[] {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return [];
  }
  try {
    const facts = fstatSync(file);
    return facts.isFile() ? collectLocations(openWindow(file, facts.size), facts.size) : [];
  } catch {
    return [];
  } finally {
    closeSync(file);
  }
}

function collectLocations(window: ByteWindow, size: number): readonly string[] {
  const found = new Set<string>();
  walk(window, 'model', 0, size, 0, entry => {
    const location = readLocation(window, entry);
    if (location !== undefined && findUnsafeReason(location) === undefined) found.add(normalizeLocation(location));
    return found.size <= MAX_FILES;
  });
  return found.size > MAX_FILES ? [] : [...found].sort();
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Calls `visit` with each StringStringEntryProto of external data until it returns false. @returns whether the walk goes on. */
function walk(window: ByteWindow, kind: MessageKind, start: number, end: number, depth: number, visit: (entry: Range) => boolean): boolean {
  if (depth > MAX_DEPTH) return false;
  const fields: Readonly<Record<number, string>> = FIELDS[kind];
  for (let at = start; at < end; ) {
    const field = readField(window, at, end);
    if (field === undefined) return false;
    const inner = field.content === undefined ? undefined : fields[field.number];
    if (inner === 'entry' && field.content !== undefined && !visit(field.content)) return false;
    if (inner !== undefined && inner !== 'entry' && field.content !== undefined) {
      const { start: from, end: to } = field.content;
      if (!walk(window, inner as MessageKind, from, to, depth + 1, visit)) return false;
    }
    at = field.end;
  }
  return true;
}

interface WireField {
  readonly number: number;
  /** Of a length-delimited field. */
  readonly content: Range | undefined;
  readonly end: number;
}

/** Undefined for bytes that are not a field, or a field that is longer than its message. */
function readField(window: ByteWindow, at: number, limit: number): WireField | undefined {
  const tag = readVarint(window, at, limit);
  if (tag === undefined) return undefined;
  const number = Math.floor(tag.value / 8);
  switch (tag.value % 8) {
    case 0: {
      const value = readVarint(window, tag.end, limit);
      return value === undefined ? undefined : { number, content: undefined, end: value.end };
    }
    case 1:
      return tag.end + 8 > limit ? undefined : { number, content: undefined, end: tag.end + 8 };
    case 2: {
      const length = readVarint(window, tag.end, limit);
      if (length === undefined || length.end + length.value > limit) return undefined;
      const end = length.end + length.value;
      return { number, content: { start: length.end, end }, end };
    }
    case 5:
      return tag.end + 4 > limit ? undefined : { number, content: undefined, end: tag.end + 4 };
    default:
      return undefined;
  }
}

/** Values beyond 2⁵³ lose bits, which no length or tag has. */
function readVarint(window: ByteWindow, at: number, limit: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let index = 0; index < 10 && at + index < limit; index++) {
    const byte = window.byteAt(at + index);
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: at + index + 1 };
  }
  return undefined;
}

/** The value of an entry whose key is "location". */
function readLocation(window: ByteWindow, { start, end }: Range): string | undefined {
  let key: string | undefined;
  let value: string | undefined;
  for (let at = start; at < end; ) {
    const field = readField(window, at, end);
    if (field?.content === undefined || field.content.end - field.content.start > MAX_TEXT_BYTES) return undefined;
    const text = window.textOf(field.content);
    if (field.number === 1) key = text;
    if (field.number === 2) value = text;
    at = field.end;
  }
  return key === 'location' ? value : undefined;
}

interface ByteWindow {
  /** 0 beyond the end of the file. */
  byteAt(position: number): number;
  textOf(range: Range): string;
}

const WINDOW_BYTES = 1 << 16;

/** Reads a file of `size` bytes a window at a time, so that skipped bytes are not read. */
function openWindow(file: number, size: number): ByteWindow {
  const bytes = new Uint8Array(WINDOW_BYTES);
  let from = 0;
  let filled = 0;
  return {
    byteAt(position) {
      if (position < from || position >= from + filled) {
        from = position;
        filled = readSync(file, bytes, 0, Math.min(WINDOW_BYTES, Math.max(0, size - position)), position);
      }
      return bytes[position - from] ?? 0;
    },
    textOf({ start, end }) {
      const text = new Uint8Array(end - start);
      const read = readSync(file, text, 0, text.byteLength, start);
      return new TextDecoder().decode(text.subarray(0, read));
    },
  };
}
