/** The bytes of a blob to upload, in pieces. The last piece is given out only if the digest matches, so that no wrong blob is completed. */
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { BlobSource } from './remote-cache.js';
import { wrongBytes, wrongSize } from './verified-bytes.js';

export interface Piece {
  readonly offset: number;
  readonly data: Uint8Array;
  readonly last: boolean;
}

/** @param from offset of the first byte to give out; the bytes before it are digested too. @throws RemoteError `remote-damaged`. */
export async function* piecesOf(source: BlobSource, pieceBytes: number, from = 0): AsyncGenerator<Piece> {
  const { hash, sizeBytes } = source;
  const digest = createHash('sha256');
  let offset = 0;
  for await (const data of 'bytes' in source ? cut(source.bytes, pieceBytes) : readFilePieces(source.path, pieceBytes)) {
    digest.update(data);
    const end = offset + data.length;
    if (end > sizeBytes) throw wrongSize(source, end);
    const last = end === sizeBytes;
    if (last && digest.copy().digest('hex') !== hash) throw wrongBytes(source);
    if (end > from || last) {
      const skipped = Math.max(0, Math.min(from - offset, data.length));
      yield { offset: offset + skipped, data: skipped === 0 ? data : data.subarray(skipped), last };
    }
    offset = end;
  }
  if (offset !== sizeBytes) throw wrongSize(source, offset);
  if (sizeBytes === 0) yield { offset: 0, data: new Uint8Array(0), last: true };
}

/** The whole blob, verified. */
export async function wholeOf(source: BlobSource): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const { data } of piecesOf(source, Math.max(source.sizeBytes, 1))) pieces.push(data);
  const [first = new Uint8Array(0)] = pieces;
  return pieces.length <= 1 ? first : Buffer.concat(pieces);
}

function* cut(bytes: Uint8Array, pieceBytes: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

async function* readFilePieces(path: string, pieceBytes: number): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r');
  try {
    // Each piece has a buffer of its own, because the network may still hold the one before.
    const read = () => file.read(Buffer.allocUnsafe(pieceBytes), 0, pieceBytes, null);
    for (let next = read(); ; ) {
      const { bytesRead, buffer } = await next;
      if (bytesRead === 0) return;
      next = read();
      // Handled by the next round; an error must not end the process before.
      next.catch(() => undefined);
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
