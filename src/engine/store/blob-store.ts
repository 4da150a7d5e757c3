/** How is content kept under its digest, and given back only if it still is that content? */
import { randomBytes } from 'node:crypto';
import { chmodSync, constants, copyFileSync, lstatSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { digestBytes } from '../../base/digest.js';
import type { BlobRef } from '../model/artifact.js';
import { systemCode } from '../model/engine-error.js';
import type { CacheFolder } from './cache-folder.js';
import { AT_ONCE_BYTES, copyDigesting, digestPath } from './files/digest-file.js';
import { lookAt } from './files/stamp.js';
import { flushFile, withFolder, writeWhole } from './files/write-file.js';

/** The verified bytes of a blob; undefined where there is none. */
export type ReadBlob = (digest: Digest) => Buffer | undefined;

export type Fetch = 'found' | 'missing' | 'damaged';

export interface BlobStore {
  /**
   * Moves a complete file into the store. An older blob of the digest is replaced, as it may be damaged; but not one that is whole and has another name too,
   * as an artifact that is a link: its stamp would change.
   * 'no-flush' for what is cheap to make again: a blob that a power cut has torn does not have its digest, and is a miss.
   */
  takeFile(path: string, digest: Digest, flushing: 'flush' | 'no-flush'): Promise<void>;
  keepBytes(bytes: string | Uint8Array, flushing: 'flush' | 'no-flush'): Promise<BlobRef>;
  /** Copies a blob to `path`, verified. On anything but 'found' nothing is left at `path`. A damaged blob is removed. */
  copyTo(digest: Digest, path: string, executable: boolean): Promise<Fetch>;
  /** The verified bytes of a (small) blob. */
  read(digest: Digest): Promise<Buffer | undefined>;
  /** Checks a blob in place. A damaged blob is removed. */
  verify(digest: Digest): Promise<Fetch>;
  /** How large a blob is that is there; nothing is read. */
  sizeOf(digest: Digest): Promise<number | undefined>;
  /** As `verify`, and changes nothing. */
  check(digest: Digest): Promise<Fetch>;
  /** Where a blob stands; undefined where it is not there, or damaged. Changes nothing. */
  locate(digest: Digest): Promise<string | undefined>;
}

export function openBlobStore(cache: CacheFolder): BlobStore {
  return {
    takeFile: (path, digest, flushing) => takeFile(path, cache.blob(digest), digest, flushing),
    async keepBytes(bytes, flushing) {
      const digest = digestBytes(bytes);
      if (readVerified(cache.blob(digest), digest) === undefined) await writeWhole(cache.blob(digest), bytes, flushing);
      return { digest, sizeBytes: Buffer.byteLength(bytes) };
    },
    copyTo: (digest, path, executable) => copyVerified(cache.blob(digest), digest, path, executable),
    read: async digest => readVerified(cache.blob(digest), digest),
    async verify(digest) {
      const found = await check(cache.blob(digest), digest);
      if (found === 'damaged') rmSync(cache.blob(digest), { force: true });
      return found;
    },
    sizeOf: async digest => lookAt(cache.blob(digest))?.sizeBytes,
    check: digest => check(cache.blob(digest), digest),
    locate: async digest => ((await check(cache.blob(digest), digest)) === 'found' ? cache.blob(digest) : undefined),
  };
}

function hasOtherName(blob: string): boolean {
  return (statSync(blob, { throwIfNoEntry: false })?.nlink ?? 0) > 1;
}

async function takeFile(path: string, blob: string, digest: Digest, flushing: 'flush' | 'no-flush'): Promise<void> {
  if (lstatSync(path).nlink > 1) return takeCopy(path, blob);
  if (flushing === 'flush') await flushFile(path);
  if (hasOtherName(blob) && (await check(blob, digest)) === 'found') return rmSync(path, { force: true });
  chmodSync(path, 0o400);
  try {
    withFolder(blob, () => renameOut(path, blob));
  } catch (error) {
    if (systemCode(error) !== 'EXDEV') throw error;
    await moveAcross(path, blob);
  }
}

/** The program may have made the folder read-only that it wrote the file to: it is ours. */
function renameOut(path: string, blob: string): void {
  try {
    renameSync(path, blob);
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error;
    chmodSync(dirname(path), 0o700);
    renameSync(path, blob);
  }
}

/** The file has another name, somewhere: what stands there stays as it is, and no write to it reaches the store. */
async function takeCopy(from: string, to: string): Promise<void> {
  const temporary = `${to}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    withFolder(to, () => copyFileSync(from, temporary, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL));
    chmodSync(temporary, 0o600);
    await flushFile(temporary);
    chmodSync(temporary, 0o400);
    renameSync(temporary, to);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The run was in another file system than the cache. */
async function moveAcross(from: string, to: string): Promise<void> {
  const temporary = `${to}.tmp`;
  try {
    await copyFile(from, temporary);
    await flushFile(temporary);
    renameSync(temporary, to);
  } finally {
    rmSync(temporary, { force: true });
  }
  rmSync(from, { force: true });
}

/** What is checked is what is delivered: the bytes that are written, or, of a large blob, the copy. */
async function copyVerified(blob: string, digest: Digest, path: string, executable: boolean): Promise<Fetch> {
  const look = lookAt(blob);
  if (look === undefined) return 'missing';
  const mode = publicMode(executable);
  try {
    const found = look.sizeBytes <= AT_ONCE_BYTES ? writeVerified(blob, digest, path) : await copyLarge(blob, digest, path);
    if (found) {
      chmodSync(path, mode);
      return 'found';
    }
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
  rmSync(path, { force: true });
  rmSync(blob, { force: true });
  return 'damaged';
}

/** What a new file of the user's would have: under the umask. */
export function publicMode(executable: boolean): number {
  return (executable ? 0o777 : 0o666) & ~process.umask();
}

function writeVerified(blob: string, digest: Digest, path: string): boolean {
  const bytes = readFileSync(blob);
  if (digestBytes(bytes) !== digest) return false;
  writeFileSync(path, bytes, { flag: 'wx' });
  return true;
}

async function copyLarge(blob: string, digest: Digest, path: string): Promise<boolean> {
  if (await clone(blob, path)) return (await digestPath(path, lookAt(path)?.sizeBytes ?? 0)) === digest;
  return (await copyDigesting(blob, path)) === digest;
}

/** A copy that shares its blocks with the blob until one of them is written to: where the file system has such. */
async function clone(blob: string, path: string): Promise<boolean> {
  try {
    await copyFile(blob, path, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
    return true;
  } catch {
    // Whatever it is, a copy meets it too and says it better.
    rmSync(path, { force: true });
    return false;
  }
}

/** Reads a blob of a folder on this machine at once. A shared folder is looked into where the own one lacks it. Changes nothing. */
export function readBlob(cache: CacheFolder, digest: Digest): Buffer | undefined {
  return readVerified(cache.blob(digest), digest) ?? (cache.shared === undefined ? undefined : readBlob(cache.shared, digest));
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
