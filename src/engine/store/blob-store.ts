/** The content store (CAS): blobs stored under their digests and verified whenever they are read. */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { digestBytes } from '../../base/digest.js';
import { hasCode } from '../../base/system-error.js';
import type { BlobRef } from '../model/artifact.js';
import type { CacheFolder } from './cache-folder.js';
import { AT_ONCE_BYTES, copyDigesting, digestPath } from './files/digest-file.js';
import { readRegular } from './files/read-regular.js';
import { statLink, statPath } from './files/stamp.js';
import { flushFile, withFolder, writeWhole } from './files/write-file.js';

/** The verified bytes of a blob; undefined if the blob is missing or damaged. */
export type ReadBlob = (digest: Digest) => Buffer | undefined;

export type Fetch = 'found' | 'missing' | 'damaged';

export interface BlobStore {
  /**
   * Moves a complete file into the store. An existing blob with the digest is replaced, because it may be damaged. An existing blob is
   * kept if it is intact and has a second hard link, for example an artifact: replacing it would change the stamp of the artifact.
   * 'no-flush' is for content that is cheap to make again: a blob torn by a power cut does not match its digest, and counts as a miss.
   */
  takeFile(path: string, digest: Digest, flushing: 'flush' | 'no-flush'): Promise<void>;
  storeBytes(bytes: string | Uint8Array, flushing: 'flush' | 'no-flush'): Promise<BlobRef>;
  /** Copies a blob to `path` and verifies it. Nothing is left at `path` unless the result is 'found'. A damaged blob is removed. */
  copyTo(digest: Digest, path: string, executable: boolean): Promise<Fetch>;
  /** The verified bytes of a (small) blob. */
  read(digest: Digest): Promise<Buffer | undefined>;
  /** Checks a blob in place. A damaged blob is removed. */
  verify(digest: Digest): Promise<Fetch>;
  /** The size of an existing blob in bytes. The content is not read. */
  sizeOf(digest: Digest): Promise<number | undefined>;
  /** Like `verify`, but changes nothing. */
  check(digest: Digest): Promise<Fetch>;
  /** The path of a blob; undefined if it is missing or damaged. Changes nothing. */
  locate(digest: Digest): Promise<string | undefined>;
}

export function openBlobStore(cache: CacheFolder): BlobStore {
  return {
    takeFile: (path, digest, flushing) => takeFile(path, cache.blob(digest), digest, flushing),
    async storeBytes(bytes, flushing) {
      const digest = digestBytes(bytes);
      const blob = cache.blob(digest);
      // Usually there is no file, and an exception costs more than a stat call.
      const isThere = statPath(blob) !== undefined && readVerified(blob, digest) !== undefined;
      if (!isThere) await writeWhole(blob, bytes, flushing);
      return { digest, sizeBytes: Buffer.byteLength(bytes) };
    },
    copyTo: (digest, path, executable) => copyVerified(cache.blob(digest), digest, path, executable),
    read: async digest => readVerified(cache.blob(digest), digest),
    async verify(digest) {
      const found = await check(cache.blob(digest), digest);
      return found === 'damaged' ? removeDamaged(cache.blob(digest)) : found;
    },
    sizeOf: async digest => statPath(cache.blob(digest))?.sizeBytes,
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
    if (!hasCode(error, 'EXDEV')) throw error;
    await moveAcross(path, blob);
  }
}

/** The program may have made the folder of the file read-only. The folder belongs to the build, so it is made writable. */
function renameOut(path: string, blob: string): void {
  try {
    renameSync(path, blob);
  } catch (error) {
    if (!hasCode(error, 'EACCES')) throw error;
    chmodSync(dirname(path), 0o700);
    renameSync(path, blob);
  }
}

/** The file has another hard link. The store takes a copy: the other link stays as it is, and no write through it reaches the store. */
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

/** Moves a file from a run folder on another file system than the cache. */
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

/** Verifies the delivered bytes: those that are written or, for a large blob, the copy. */
async function copyVerified(blob: string, digest: Digest, path: string, executable: boolean): Promise<Fetch> {
  const stat = statPath(blob);
  if (stat === undefined) return 'missing';
  if (stat.kind !== 'file') return removeDamaged(blob);
  const mode = publicMode(executable);
  try {
    const found = stat.sizeBytes <= AT_ONCE_BYTES ? writeVerified(blob, digest, path) : await copyLarge(blob, digest, path);
    if (found) {
      chmodSync(path, mode);
      return 'found';
    }
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
  rmSync(path, { force: true });
  return removeDamaged(blob);
}

/** A folder in the place of a blob is not the store's, and stays if it holds something. */
function removeDamaged(blob: string): 'damaged' {
  if (statLink(blob)?.kind !== 'folder') rmSync(blob, { force: true });
  else if (readdirSync(blob).length === 0) rmdirSync(blob);
  return 'damaged';
}

/** The mode of a new file of the user, with the umask applied. */
export function publicMode(executable: boolean): number {
  return (executable ? 0o777 : 0o666) & ~process.umask();
}

function writeVerified(blob: string, digest: Digest, path: string): boolean {
  const bytes = readRegular(blob);
  if (digestBytes(bytes) !== digest) return false;
  writeFileSync(path, bytes, { flag: 'wx' });
  return true;
}

async function copyLarge(blob: string, digest: Digest, path: string): Promise<boolean> {
  if (await clone(blob, path)) return (await digestPath(path, statPath(path)?.sizeBytes ?? 0)) === digest;
  return (await copyDigesting(blob, path)) === digest;
}

/** Makes a copy-on-write copy of the blob, if the file system supports that. */
async function clone(blob: string, path: string): Promise<boolean> {
  try {
    await copyFile(blob, path, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL);
    return true;
  } catch {
    // A regular copy meets any real error too, and reports it better.
    rmSync(path, { force: true });
    return false;
  }
}

/** Reads a blob of a local cache folder synchronously. Looks in the shared folder if the own folder lacks the blob. Changes nothing. */
export function readBlob(cache: CacheFolder, digest: Digest): Buffer | undefined {
  return readVerified(cache.blob(digest), digest) ?? (cache.shared === undefined ? undefined : readBlob(cache.shared, digest));
}

function readVerified(blob: string, digest: Digest): Buffer | undefined {
  try {
    const bytes = readRegular(blob);
    return digestBytes(bytes) === digest ? bytes : undefined;
  } catch {
    return undefined;
  }
}

async function check(blob: string, digest: Digest): Promise<Fetch> {
  const stat = statPath(blob);
  if (stat === undefined) return 'missing';
  if (stat.kind !== 'file') return 'damaged';
  return (await digestPath(blob, stat.sizeBytes)) === digest ? 'found' : 'damaged';
}
