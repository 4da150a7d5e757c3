/** Frames, the form of messages on a pipe: a fixed start, a JSON header, and raw bytes. Described in docs/runner-protocol.md. */
import type { JsonObject } from '../../base/json.js';
import { isJsonObject, type Json } from '../../base/json.js';
import { RunnerError } from './runner-error.js';

/** "TNR1" */
const MAGIC = Buffer.from('TNR1', 'latin1');
/** Magic, header length (uint32), payload length (uint64), little-endian. */
const START_BYTES = 16;
export const MAX_HEADER_BYTES = 1 << 20;
export const MAX_PAYLOAD_BYTES = 2 ** 31 - 1;

export interface Frame {
  readonly header: JsonObject;
  readonly payload: Uint8Array;
}

/** The pieces of a frame, to write in order. Payload pieces are not copied. */
export function encodeFrame(header: JsonObject, payload: readonly Uint8Array[]): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify(header), 'utf8');
  const payloadBytes = payload.reduce((sum, piece) => sum + piece.byteLength, 0);
  if (text.byteLength > MAX_HEADER_BYTES) throw tooLarge('a header', text.byteLength, MAX_HEADER_BYTES);
  if (payloadBytes > MAX_PAYLOAD_BYTES) throw tooLarge('a payload', payloadBytes, MAX_PAYLOAD_BYTES);
  const start = Buffer.alloc(START_BYTES);
  MAGIC.copy(start);
  start.writeUInt32LE(text.byteLength, 4);
  start.writeBigUInt64LE(BigInt(payloadBytes), 8);
  return [start, text, ...payload];
}

export interface FrameReader {
  /** Adds the next bytes of the stream. @returns the frames that are now complete. @throws RunnerError `runner-garbage`, `runner-protocol`. */
  take(chunk: Uint8Array): readonly Frame[];
  /** Whether the stream may end here. */
  isBetweenFrames(): boolean;
}

export function createFrameReader(): FrameReader {
  const chunks: Uint8Array[] = [];
  let held = 0;
  let start: { readonly headerBytes: number; readonly payloadBytes: number } | undefined;

  /** Copies into a separate buffer, so that typed arrays over it are aligned. */
  const cut = (size: number): Buffer => {
    const piece = Buffer.from(new ArrayBuffer(size));
    let filled = 0;
    while (filled < size) {
      const chunk = chunks[0] ?? new Uint8Array();
      const used = Math.min(chunk.byteLength, size - filled);
      piece.set(chunk.subarray(0, used), filled);
      filled += used;
      if (used === chunk.byteLength) chunks.shift();
      else chunks[0] = chunk.subarray(used);
    }
    held -= size;
    return piece;
  };

  return {
    take(chunk) {
      if (chunk.byteLength === 0) return [];
      chunks.push(chunk);
      held += chunk.byteLength;
      const frames: Frame[] = [];
      for (;;) {
        if (start === undefined) {
          checkMagic(chunks, held);
          if (held < START_BYTES) return frames;
          start = readStart(cut(START_BYTES));
        }
        if (held < start.headerBytes + start.payloadBytes) return frames;
        const header = parseHeader(cut(start.headerBytes));
        frames.push({ header, payload: cut(start.payloadBytes) });
        start = undefined;
      }
    },
    isBetweenFrames: () => start === undefined && held === 0,
  };
}

/** Checks the first bytes at once, so that garbage is reported without waiting for a whole frame. */
function checkMagic(chunks: readonly Uint8Array[], held: number): void {
  const seen = Buffer.concat(chunks.slice(0, START_BYTES), Math.min(held, START_BYTES * 4));
  const length = Math.min(seen.byteLength, MAGIC.byteLength);
  if (seen.subarray(0, length).equals(MAGIC.subarray(0, length))) return;
  throw new RunnerError('runner-garbage', `the runner wrote to its standard output, which is not a message: ${quote(seen)}`, {
    help: 'standard output is reserved for the protocol: print to standard error, and redirect the output of libraries to it',
  });
}

function readStart(bytes: Buffer): { readonly headerBytes: number; readonly payloadBytes: number } {
  const headerBytes = bytes.readUInt32LE(4);
  const payloadBytes = bytes.readBigUInt64LE(8);
  if (headerBytes > MAX_HEADER_BYTES) throw tooLarge('the header of an answer', headerBytes, MAX_HEADER_BYTES);
  if (payloadBytes > BigInt(MAX_PAYLOAD_BYTES)) throw tooLarge('the payload of an answer', payloadBytes, MAX_PAYLOAD_BYTES);
  return { headerBytes, payloadBytes: Number(payloadBytes) };
}

function parseHeader(bytes: Buffer): JsonObject {
  let header: Json;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Json;
  } catch (cause) {
    throw new RunnerError('runner-protocol', `the header of an answer is not JSON: ${quote(bytes)}`, { cause });
  }
  if (!isJsonObject(header)) throw new RunnerError('runner-protocol', `the header of an answer is not a JSON object: ${quote(bytes)}`);
  return header;
}

function quote(bytes: Buffer): string {
  return JSON.stringify(bytes.subarray(0, 64).toString('latin1'));
}

function tooLarge(what: string, size: number | bigint, limit: number): RunnerError {
  return new RunnerError('runner-protocol', `${what} has ${size} bytes; at most ${limit} are allowed`);
}
