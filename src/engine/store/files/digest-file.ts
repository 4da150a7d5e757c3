/** Digests of files: small files are read in one call, large ones as a stream. */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Digest } from '../../../base/digest.js';
import { digestBytes, digestFile } from '../../../base/digest.js';
import { readRegular } from './read-regular.js';

/** Files of at most this size are read synchronously in one call. */
export const AT_ONCE_BYTES = 1 << 18;

export async function digestPath(path: string, sizeBytes: number): Promise<Digest> {
  return sizeBytes <= AT_ONCE_BYTES ? digestBytes(readRegular(path)) : digestFile(path);
}

const CHUNK_BYTES = 1 << 20;

/**
 * Copies the content of `from` to `to`, which must not exist.
 * @returns the digest of the written bytes, computed while other threads read and write.
 */
export async function copyDigesting(from: string, to: string): Promise<Digest> {
  const source = await open(from, 'r');
  try {
    const target = await open(to, 'wx');
    try {
      return await pump(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function pump(source: FileHandle, target: FileHandle): Promise<Digest> {
  const hash = createHash('sha256');
  const read = async (into: Buffer): Promise<Buffer> => into.subarray(0, (await source.read(into, 0, CHUNK_BYTES, null)).bytesRead);
  let [present, next] = [Buffer.allocUnsafe(CHUNK_BYTES), Buffer.allocUnsafe(CHUNK_BYTES)];
  for (let chunk = await read(present); chunk.length > 0; [present, next] = [next, present]) {
    const following = read(next);
    const written = writeAll(target, chunk);
    hash.update(chunk);
    // Waits for both operations, even if one fails.
    const [, ahead] = await Promise.allSettled([written, following]);
    await written;
    chunk = ahead.status === 'fulfilled' ? ahead.value : await following;
  }
  return hash.digest('hex') as Digest;
}

async function writeAll(target: FileHandle, chunk: Buffer): Promise<void> {
  for (let done = 0; done < chunk.length; ) done += (await target.write(chunk, done, chunk.length - done)).bytesWritten;
}
