/**
 * The archive format: records and blobs in one file.
 * A header line is followed by frames: a head line with kind, name and size, then that many bytes. A record follows the blobs that it
 * names. The last line counts the frames, so that a truncated file is detected.
 */
import type { Digest } from '../../../base/digest.js';
import { parseDigest } from '../../../base/digest.js';
import { EngineError } from '../../model/engine-error.js';
import type { ArchiveBytes } from './archive-bytes.js';

export type FrameKind = 'blob' | 'record';

export interface FrameHead {
  readonly kind: FrameKind;
  /** The digest of a blob, or the key of a record. */
  readonly name: Digest;
  readonly sizeBytes: number;
}

/** A frame while it is read. `body` must be read before the next frame is requested; unread bytes are skipped. */
export interface Frame extends FrameHead {
  readonly body: AsyncIterable<Buffer>;
}

export const ARCHIVE_HEADER = 'tanren-archive 1\n';

export function encodeHead({ kind, name, sizeBytes }: FrameHead): string {
  return `${kind} ${name} ${sizeBytes}\n`;
}

export function encodeEnd(frames: number): string {
  return `end ${frames}\n`;
}

/** Longer than any line of the format. */
const MAX_LINE_BYTES = 128;

/**
 * Reads an archive with one chunk in memory at a time. Contents are not verified here; the reader of a body verifies it.
 * @throws EngineError `archive-malformed`, `archive-version`, `archive-truncated`.
 */
export async function* readFrames({ name, chunks }: ArchiveBytes): AsyncGenerator<Frame> {
  const reader = openReader(chunks, name);
  checkHeader(await reader.line(), name);
  for (let frames = 0; ; frames++) {
    const line = await reader.line();
    if (line === `end ${frames}`) break;
    const head = parseHead(line);
    if (head === undefined) throw malformed(name, `frame ${frames + 1} begins with ${JSON.stringify(line)}`);
    const body = reader.body(head.sizeBytes);
    yield { ...head, body };
    for await (const _ of body) {
      // Skips the bytes that the consumer did not read.
    }
  }
  if (await reader.hasMore()) throw malformed(name, 'data follows its end');
}

function checkHeader(line: string, name: string): void {
  if (`${line}\n` === ARCHIVE_HEADER) return;
  if (!/^tanren-archive \d+$/.test(line)) throw malformed(name, `it begins with ${JSON.stringify(line.slice(0, 40))}`);
  throw new EngineError('archive-version', `${name} is an archive of another version of Tanren: ${line}`, {
    help: 'export it again with the version that imports it',
  });
}

function parseHead(line: string): FrameHead | undefined {
  const match = /^(blob|record) ([0-9a-f]{64}) (0|[1-9]\d{0,15})$/.exec(line);
  const digest = parseDigest(match?.[2]);
  const sizeBytes = Number(match?.[3]);
  if (digest === undefined || !Number.isSafeInteger(sizeBytes)) return undefined;
  return { kind: match?.[1] === 'blob' ? 'blob' : 'record', name: digest, sizeBytes };
}

interface Reader {
  /** The next line, without its line end. */
  line(): Promise<string>;
  /** The next bytes, in chunks. A second iteration continues where the first one stopped. */
  body(sizeBytes: number): AsyncIterable<Buffer>;
  hasMore(): Promise<boolean>;
}

function openReader(chunks: AsyncIterable<Buffer>, name: string): Reader {
  const source = chunks[Symbol.asyncIterator]();
  let buffer: Buffer = Buffer.alloc(0);

  /** Reads more bytes; false at the end of the file. */
  const fill = async (): Promise<boolean> => {
    const { value, done } = await source.next();
    if (done === true) return false;
    buffer = buffer.length === 0 ? value : Buffer.concat([buffer, value]);
    return true;
  };

  return {
    async line() {
      for (;;) {
        const end = buffer.subarray(0, MAX_LINE_BYTES).indexOf(0x0a);
        if (end >= 0) {
          const line = buffer.toString('latin1', 0, end);
          buffer = buffer.subarray(end + 1);
          return line;
        }
        if (buffer.length >= MAX_LINE_BYTES) throw malformed(name, 'a line is too long');
        if (!(await fill())) throw truncated(name);
      }
    },

    body(sizeBytes) {
      let left = sizeBytes;
      const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
        if (left === 0) return { done: true, value: undefined };
        while (buffer.length === 0) if (!(await fill())) throw truncated(name);
        const value = buffer.subarray(0, left);
        buffer = buffer.subarray(value.length);
        left -= value.length;
        return { done: false, value };
      };
      return { [Symbol.asyncIterator]: () => ({ next }) };
    },

    async hasMore() {
      while (buffer.length === 0) if (!(await fill())) return false;
      return true;
    },
  };
}

export function malformed(name: string, what: string): EngineError {
  return new EngineError('archive-malformed', `${name} is not a cache archive: ${what}`, {
    help: '`tanren cache export` writes such archives; decompress it first if it is compressed',
  });
}

function truncated(name: string): EngineError {
  return new EngineError('archive-truncated', `${name} is truncated`, {
    help: 'copy it again; the results before the truncation are in the cache',
  });
}
