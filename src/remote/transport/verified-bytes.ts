/** Bytes that arrive, checked against the digest under which they were asked for. */
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { digestBytes } from '../../base/digest.js';
import { damaged } from '../error/remote-error.js';
import type { BlobDigest } from './remote-cache.js';

/** @throws RemoteError `remote-damaged`. */
export function verifyBytes(bytes: Uint8Array, blob: BlobDigest): Uint8Array {
  if (bytes.length !== blob.sizeBytes) throw wrongSize(blob, bytes.length);
  if (digestBytes(bytes) !== blob.hash) throw wrongBytes(blob);
  return bytes;
}

export function wrongSize({ hash, sizeBytes }: BlobDigest, found: number): Error {
  return damaged(`blob ${hash.slice(0, 12)}… has ${found} bytes, expected ${sizeBytes}`);
}

export function wrongBytes({ hash }: BlobDigest): Error {
  return damaged(`blob ${hash.slice(0, 12)}… arrived with other bytes than its digest states`);
}

/** A file that receives a blob in pieces, and is removed unless it ends complete and verified. */
export interface BlobFile {
  readonly receivedBytes: number;
  /** Chunks are written in the order of the calls; the promise resolves when the file has taken the chunk. */
  add(chunk: Uint8Array): Promise<void>;
  /** Forgets what it has received. */
  restart(): Promise<void>;
  /** @throws RemoteError `remote-damaged` if the bytes do not match the digest. */
  finish(): Promise<void>;
  /** Closes the file, and removes it unless it was finished. */
  close(): Promise<void>;
}

export async function openBlobFile(path: string, blob: BlobDigest): Promise<BlobFile> {
  const file: FileHandle = await open(path, 'wx', 0o600);
  let hash: Hash = createHash('sha256');
  let received = 0;
  let finished = false;
  let last: Promise<void> = Promise.resolve();
  const write = async (chunk: Uint8Array, at: number): Promise<void> => {
    for (let done = 0; done < chunk.length; ) done += (await file.write(chunk, done, chunk.length - done, at + done)).bytesWritten;
  };
  return {
    get receivedBytes() {
      return received;
    },
    add(chunk) {
      if (received + chunk.length > blob.sizeBytes) throw wrongSize(blob, received + chunk.length);
      const at = received;
      received += chunk.length;
      // The disk writes while the processor digests.
      const before = last;
      last = Promise.all([before, write(chunk, at)]).then(() => undefined);
      hash.update(chunk);
      return last;
    },
    async restart() {
      await last.catch(() => undefined);
      await file.truncate(0);
      [received, last, hash] = [0, Promise.resolve(), createHash('sha256')];
    },
    async finish() {
      await last;
      if (received !== blob.sizeBytes) throw wrongSize(blob, received);
      if (hash.digest('hex') !== blob.hash) throw wrongBytes(blob);
      finished = true;
    },
    async close() {
      await last.catch(() => undefined);
      await file.close();
      if (!finished) await rm(path, { force: true });
    },
  };
}
