/** How is content kept under its digest, and given back only if it still is that content? */
import { constants, readFileSync } from 'node:fs';
import { chmod, copyFile, open, rename, rm } from 'node:fs/promises';
import type { Digest } from '../../base/digest.js';
import { digestBytes } from '../../base/digest.js';
import { systemCode } from '../engine-error.js';
import type { CacheFolder } from './cache-folder.js';
import { digestPath } from './digest-file.js';
import { lookAt } from './stamp.js';
import { withFolder, writeWhole } from './write-file.js';

export type Fetch = 'found' | 'missing' | 'damaged';

export interface BlobStore {
  /**
   * Moves a complete file into the store. An older blob of the digest is replaced: it may be damaged.
   * 'no-flush' for what is cheap to make again: a blob that a power cut has torn does not have its digest, and is a miss.
   */
  takeFile(path: string, digest: Digest, flushing: 'flush' | 'no-flush'): Promise<void>;
  keepBytes(bytes: string | Uint8Array): Promise<Digest>;
  /** Copies a blob to `path`, verified. On anything but 'found' nothing is left at `path`. A damaged blob is removed. */
  copyTo(digest: Digest, path: string, executable: boolean): Promise<Fetch>;
  /** The verified bytes of a (small) blob. */
  read(digest: Digest): Buffer | undefined;
  /** Checks a blob in place. A damaged blob is removed. */
  verify(digest: Digest): Promise<Fetch>;
  /** As `verify`, and changes nothing. */
  check(digest: Digest): Promise<Fetch>;
  /** Where a blob stands; undefined where it is not there, or damaged. Changes nothing. */
  locate(digest: Digest): Promise<string | undefined>;
}

export function openBlobStore(cache: CacheFolder): BlobStore {
  return {
    takeFile: (path, digest, flushing) => takeFile(path, cache.blob(digest), flushing),
    async keepBytes(bytes) {
      const digest = digestBytes(bytes);
      if (readVerified(cache.blob(digest), digest) === undefined) await writeWhole(cache.blob(digest), bytes);
      return digest;
    },
    copyTo: (digest, path, executable) => copyVerified(cache.blob(digest), digest, path, executable),
    read: digest => readVerified(cache.blob(digest), digest),
    async verify(digest) {
      const found = await check(cache.blob(digest), digest);
      if (found === 'damaged') await rm(cache.blob(digest), { force: true });
      return found;
    },
    check: digest => check(cache.blob(digest), digest),
    locate: async digest => ((await check(cache.blob(digest), digest)) === 'found' ? cache.blob(digest) : undefined),
  };
}

async function takeFile(path: string, blob: string, flushing: 'flush' | 'no-flush'): Promise<void> {
  if (flushing === 'flush') await flush(path);
  await chmod(path, 0o400);
  await withFolder(blob, () => move(path, blob));
}

async function flush(path: string): Promise<void> {
  const file = await open(path, process.platform === 'win32' ? 'r+' : 'r');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw error;
    const temporary = `${to}.tmp`;
    try {
      await copyFile(from, temporary);
      await flush(temporary);
      await rename(temporary, to);
    } finally {
      await rm(temporary, { force: true });
    }
    await rm(from, { force: true });
  }
}

async function copyVerified(blob: string, digest: Digest, path: string, executable: boolean): Promise<Fetch> {
  try {
    await copyFile(blob, path, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' && lookAt(blob) === undefined) return 'missing';
    await rm(path, { force: true });
    throw error;
  }
  await chmod(path, executable ? 0o755 : 0o644);
  const size = lookAt(path)?.sizeBytes ?? 0;
  if ((await digestPath(path, size)) === digest) return 'found';
  await rm(path, { force: true });
  await rm(blob, { force: true });
  return 'damaged';
}

function readVerified(blob: string, digest: Digest): Buffer | undefined {
  try {
    const bytes = readFileSync(blob);
    return digestBytes(bytes) === digest ? bytes : undefined;
  } catch {
    return undefined;
  }
}

async function check(blob: string, digest: Digest): Promise<Fetch> {
  const look = lookAt(blob);
  if (look === undefined) return 'missing';
  return (await digestPath(blob, look.sizeBytes)) === digest ? 'found' : 'damaged';
}
