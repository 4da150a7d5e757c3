/** Constants whose bytes stay in a file: they are read on use, and the last ones read are cached within a budget. */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { basename } from 'node:path';
import { formatBytes } from '../../base/text/format.js';
import type { RawTensor } from '../../tensor/tensor.js';
import type { Constant } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';

/** A byte range of a file, with the identity of the file, which changes if the file is replaced or modified. */
export interface FileRange {
  readonly path: string;
  readonly identity: string;
  readonly offset: number;
  readonly length: number;
}

/** A cache of the ranges read last: at least one, and as many as fit in the budget. */
export interface ReadCache {
  get(range: FileRange): Uint8Array;
}

const RANGES = new WeakMap<object, FileRange>();

/** A constant whose `bytes` are read from `range` on access, which may throw OnnxError `external-data-changed`, `external-data-bounds`, `constant-too-large`. */
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

/** The file range of a constant; undefined if its bytes are in memory. */
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
    throw new OnnxError(
      'constant-too-large',
      `a constant in "${basename(path)}" has ${formatBytes(length)}, more than a typed array can hold`,
      {
        cause,
        help: 'the model can be read, checked, cut and written, but its largest constants cannot be used in computations',
      },
    );
  }
}

const CHUNK_BYTES = 64 << 20;

/**
 * The bytes of `range` in chunks, each valid until the next one is requested, or all in `into`.
 * @throws OnnxError `external-data-changed` if the file was replaced or modified, `external-data-bounds` if it became shorter.
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
        throw new OnnxError('external-data-bounds', `external data file "${basename(range.path)}" was truncated while it was read`);
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
      help: 'run the command again, and do not change the file while it runs',
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
