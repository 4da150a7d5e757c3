/** How is a constant used that stays in its file? Its bytes are read when somebody asks for them; the last ones read are kept, within a budget. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { basename } from 'node:path';
import { formatBytes } from '../../base/format.js';
import type { RawTensor } from '../../tensor/tensor.js';
import type { Constant } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';

/** Bytes of a file, and how the file is known again: one that was replaced or changed since is another. */
export interface FileRange {
  readonly path: string;
  readonly identity: string;
  readonly offset: number;
  readonly length: number;
}

/** Keeps what was read last: at least one constant, and no more than the budget beyond it. */
export interface ReadCache {
  get(range: FileRange): Uint8Array;
}

const RANGES = new WeakMap<object, FileRange>();

/** A constant whose `bytes` are read from `range` when they are asked for. They throw OnnxError `external-data-changed`, `external-data-bounds`, `constant-too-large`. */
export function makeFileConstant(dtype: RawTensor['dtype'], dims: RawTensor['dims'], range: FileRange, cache: ReadCache): RawTensor {
  const constant: RawTensor = {
    dtype,
    dims,
    get bytes() {
      return cache.get(range);
    },
  };
  RANGES.set(constant, range);
  return constant;
}

/** Where the bytes of `constant` lie, where they are in a file; undefined where they are in memory. */
export function findFileRange(constant: Constant): FileRange | undefined {
  return RANGES.get(constant);
}

/** The number of bytes of a constant, without reading them. */
export function byteLengthOf(constant: RawTensor): number {
  return findFileRange(constant)?.length ?? constant.bytes.byteLength;
}

export function makeReadCache(budgetBytes: number): ReadCache {
  const kept = new Map<FileRange, Uint8Array>();
  let sizeBytes = 0;
  return {
    get(range) {
      const bytes = kept.get(range) ?? readRange(range);
      if (!kept.delete(range)) sizeBytes += bytes.byteLength;
      kept.set(range, bytes);
      for (const [oldest, { byteLength }] of kept) {
        if (sizeBytes <= budgetBytes || kept.size === 1) break;
        kept.delete(oldest);
        sizeBytes -= byteLength;
      }
      return bytes;
    },
  };
}

export function identify({ dev, ino, size, mtimeMs }: Stats): string {
  return `${dev}:${ino}:${size}:${mtimeMs}`;
}

function readRange(range: FileRange): Uint8Array {
  const bytes = allocate(range);
  for (const { chunk, at } of readChunks(range, { into: bytes })) if (at + chunk.byteLength === range.length) break;
  return bytes;
}

function allocate({ path, length }: FileRange): Uint8Array {
  try {
    return new Uint8Array(length);
  } catch (cause) {
    throw new OnnxError('constant-too-large', `a constant in "${basename(path)}" has ${formatBytes(length)}, more than one array holds`, {
      cause,
      help: 'such a model can be read, checked, cut and written; its largest constants cannot be computed with',
    });
  }
}

const CHUNK_BYTES = 64 << 20;

/**
 * The bytes of `range` in pieces, each valid until the next is asked for; `into` takes them all instead.
 * @throws OnnxError `external-data-changed` where the file is another than it was, `external-data-bounds` where it became shorter.
 */
export function* readChunks(
  range: FileRange,
  { into }: { readonly into?: Uint8Array } = {},
): Generator<{ readonly chunk: Uint8Array; readonly at: number }> {
  const file = openSame(range);
  try {
    const buffer = into ?? new Uint8Array(Math.min(range.length, CHUNK_BYTES));
    for (let at = 0; at < range.length; ) {
      const start = into === undefined ? 0 : at;
      const count = readSync(file, buffer, start, Math.min(range.length - at, CHUNK_BYTES), range.offset + at);
      if (count === 0)
        throw new OnnxError('external-data-bounds', `external data file "${basename(range.path)}" became shorter while it was read`);
      yield { chunk: buffer.subarray(start, start + count), at };
      at += count;
    }
  } finally {
    closeSync(file);
  }
}

function openSame({ path, identity }: FileRange): number {
  const changed = (cause?: unknown): OnnxError =>
    new OnnxError('external-data-changed', `external data file "${basename(path)}" was changed or removed after its model was read`, {
      cause,
      help: 'run the command again, and leave the file alone meanwhile',
    });
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw changed(cause);
  }
  if (identify(fstatSync(file)) === identity) return file;
  closeSync(file);
  throw changed();
}
