/**
 * A cache that several checkouts share: missing results are fetched from it, and new results are offered to it.
 * Blobs are hard-linked if both caches are on one file system. The shared cache is neither locked nor trusted: a blob appears complete, a
 * record appears after its blobs, and fetched content is verified on use.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, constants, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { hasCode, isMissing, LINK_REFUSED } from '../../base/system-error.js';
import { messageOf } from '../model/engine-error.js';
import { type ActionRecords, openActionRecords } from './action-records.js';
import { type BlobStore, type Fetch, openBlobStore } from './blob-store.js';
import type { CacheFolder } from './cache-folder.js';
import { markCacheFolder } from './cache-marker.js';
import { statPath } from './files/stamp.js';
import { UNFINISHED, withFolder } from './files/write-file.js';

export interface Stores {
  readonly store: BlobStore;
  readonly records: ActionRecords;
}

/**
 * How blobs pass between the caches: as 'links' where possible, or as 'copies', so that an edit of a file in one cache never reaches the
 * other.
 */
export type BlobForm = 'links' | 'copies';

/** @param warn receives the first failure of the shared cache, which is not used any more after that. */
export function openStores(cache: CacheFolder, access: 'read' | 'write', form: BlobForm, warn: (message: string) => void): Stores {
  const own = { store: openBlobStore(cache), records: openActionRecords(cache) };
  if (cache.shared === undefined) return own;
  const shared = { store: openBlobStore(cache.shared), records: openActionRecords(cache.shared) };
  if (access === 'read') return { store: readBoth(own.store, shared.store), records: { ...own.records, find: findIn(own, shared) } };
  const attempt = createAttempt(cache.shared, warn);
  return { store: joinStores(cache, cache.shared, own.store, shared.store, form, attempt), records: joinRecords(own, shared, attempt) };
}

/** Runs an operation on the shared cache; undefined if it fails or an earlier one has failed. */
type Attempt = <T>(work: () => Promise<T>) => Promise<T | undefined>;

function createAttempt({ root }: CacheFolder, warn: (message: string) => void): Attempt {
  let failed = false;
  let marked = false;
  return async work => {
    if (failed) return undefined;
    if (!marked) markCacheFolder(root);
    marked = true;
    try {
      return await work();
    } catch (error) {
      if (!failed) warn(`the shared cache ${root} cannot be used (${messageOf(error)}): the build continues without it`);
      failed = true;
      return undefined;
    }
  };
}

function readBoth(own: BlobStore, shared: BlobStore): BlobStore {
  const check = async (digest: Digest): Promise<Fetch> => {
    const found = await own.check(digest);
    return found === 'found' ? found : shared.check(digest);
  };
  return {
    ...own,
    read: async digest => (await own.read(digest)) ?? shared.read(digest),
    check,
    sizeOf: async digest => (await own.sizeOf(digest)) ?? shared.sizeOf(digest),
    locate: async digest => (await own.locate(digest)) ?? shared.locate(digest),
  };
}

function joinStores(
  cache: CacheFolder,
  folder: CacheFolder,
  own: BlobStore,
  shared: BlobStore,
  form: BlobForm,
  attempt: Attempt,
): BlobStore {
  const offer = (digest: Digest) => attempt(() => replace(cache.blob(digest), folder.blob(digest), form));
  const fetch = async (digest: Digest): Promise<boolean> =>
    statPath(folder.blob(digest)) !== undefined && (await attempt(() => bring(folder.blob(digest), cache.blob(digest), form))) === 'there';

  /** Asks the own store, and asks again if the blob was fetched. A blob that is damaged in the shared cache too is removed there. */
  const askBoth = async (digest: Digest, ask: () => Promise<Fetch>): Promise<Fetch> => {
    const first = await ask();
    if (first === 'found' || !(await fetch(digest))) return first;
    const second = await ask();
    if (second === 'damaged') await attempt(async () => rmSync(folder.blob(digest), { force: true }));
    return second;
  };

  return {
    ...readBoth(own, shared),
    async takeFile(path, digest, flushing) {
      await own.takeFile(path, digest, flushing);
      await offer(digest);
    },
    async storeBytes(bytes, flushing) {
      const kept = await own.storeBytes(bytes, flushing);
      await offer(kept.digest);
      return kept;
    },
    copyTo: (digest, path, executable) => askBoth(digest, () => own.copyTo(digest, path, executable)),
    verify: digest => askBoth(digest, () => own.verify(digest)),
    async locate(digest) {
      const found = await askBoth(digest, async () => ((await own.locate(digest)) === undefined ? 'missing' : 'found'));
      return found === 'found' ? cache.blob(digest) : undefined;
    },
    async read(digest) {
      const bytes = await own.read(digest);
      if (bytes !== undefined) return bytes;
      const there = await shared.read(digest);
      if (there !== undefined) keepHere(cache.blob(digest), there);
      return there;
    },
  };
}

/** Offers a new blob. An existing blob of the digest is replaced, as in the own store, because it may be damaged. */
async function replace(from: string, to: string, form: BlobForm): Promise<void> {
  const temporary = temporaryOf(to);
  try {
    if (form === 'copies' || !linkIn(from, temporary)) {
      await makeFolderOf(to);
      await copyFile(from, temporary, constants.COPYFILE_FICLONE);
      chmodSync(temporary, 0o400);
    }
    renameSync(temporary, to);
  } finally {
    // A rename between two links to one file does nothing and leaves both.
    rmSync(temporary, { force: true });
  }
}

/** Fetches a blob. @returns 'missing' if it no longer exists. */
async function bring(from: string, to: string, form: BlobForm): Promise<'there' | 'missing'> {
  try {
    if (form === 'copies' || !linkIn(from, to)) await replace(from, to, 'copies');
    return 'there';
  } catch (error) {
    if (isMissing(error) && statPath(from) === undefined) return 'missing';
    throw error;
  }
}

async function makeFolderOf(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
}

/** Makes a hard link, and its folder if that is missing; false if no link can be made. */
function linkIn(from: string, to: string): boolean {
  try {
    withFolder(to, () => linkSync(from, to));
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return true;
    if (hasCode(error, 'EACCES', ...LINK_REFUSED)) return false;
    throw error;
  }
}

/** Keeps a small blob of the shared cache in the own cache. If that fails, the blob is read from the shared cache again next time. */
function keepHere(path: string, bytes: Buffer): void {
  const temporary = temporaryOf(path);
  try {
    withFolder(path, () => writeFileSync(temporary, bytes, { mode: 0o400 }));
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
}

function temporaryOf(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}${UNFINISHED}`;
}

function findIn(own: Stores, shared: Stores): ActionRecords['find'] {
  return async key => {
    const here = await own.records.find(key);
    if (here !== undefined && here !== 'damaged') return here;
    const there = await shared.records.find(key);
    return there === undefined || there === 'damaged' ? here : there;
  };
}

function joinRecords(own: Stores, shared: Stores, attempt: Attempt): ActionRecords {
  return {
    find: findIn(own, shared),
    async add(key, manifest, result) {
      const other = await own.records.add(key, manifest, result);
      return other ?? (await attempt(() => shared.records.add(key, manifest, result)));
    },
    merge: (key, record) => own.records.merge(key, record),
    async noteUse(key) {
      const here = await own.records.find(key);
      const there = here === undefined || here === 'damaged' ? await shared.records.find(key) : undefined;
      // The record names the blobs that were fetched.
      if (there !== undefined && there !== 'damaged') await own.records.merge(key, there).catch(() => undefined);
      await own.records.noteUse(key);
      await shared.records.noteUse(key);
    },
    async dropResult(key, result) {
      await own.records.dropResult(key, result);
      await attempt(() => shared.records.dropResult(key, result));
    },
  };
}
