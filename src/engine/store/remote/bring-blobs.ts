/** Blobs of a server in the local store, each verified. */
import { rm } from 'node:fs/promises';
import { countOf } from '../../../base/text/count-of.js';
import { damaged, RemoteError } from '../../../remote/error/remote-error.js';
import type { BlobDigest, RemoteCache } from '../../../remote/transport/remote-cache.js';
import type { LocalStores } from './remote-use.js';

/** Larger blobs are written to files as they arrive. */
export const LARGE_BYTES = 1 << 20;

/** Small blobs that are in memory together. */
const GROUP_BYTES = 32 << 20;

/** More than one result has: a server that states more would fill the disk. */
export const MOST_RESULT_BYTES = 64 * 2 ** 30;

type Source = Pick<RemoteCache, 'readBlobs' | 'readFile'>;

/**
 * Brings blobs into the local store. What the store has already is verified, and not downloaded.
 * @throws RemoteError, `remote-missing` if the server lacks one, `remote-damaged` if they are too large together.
 */
export async function bringBlobs(
  cache: Source,
  { store, cache: folder }: Pick<LocalStores, 'store' | 'cache'>,
  blobs: readonly BlobDigest[],
): Promise<void> {
  const wanted: BlobDigest[] = [];
  const isHere = async ({ hash, sizeBytes }: BlobDigest): Promise<boolean> =>
    (await store.sizeOf(hash)) === sizeBytes && (await store.verify(hash)) === 'found';
  for (const blob of uniqueOf(blobs)) if (!(await isHere(blob))) wanted.push(blob);
  assertSize(wanted.map(({ sizeBytes }) => sizeBytes));
  const large = wanted.filter(({ sizeBytes }) => sizeBytes > LARGE_BYTES);
  for (const group of groupsOf(
    wanted.filter(({ sizeBytes }) => sizeBytes <= LARGE_BYTES),
    blob => blob.sizeBytes,
  )) {
    const found = await cache.readBlobs(group);
    if (found.size < group.length) throw lostBlobs(group.length - found.size);
    for (const bytes of found.values()) await store.storeBytes(bytes, 'no-flush');
  }
  await Promise.all(
    large.map(async blob => {
      const path = folder.newTemporary('remote');
      try {
        if ((await cache.readFile(blob, path)) === 'missing') throw lostBlobs(1);
        await store.takeFile(path, blob.hash, 'no-flush');
      } finally {
        await rm(path, { force: true });
      }
    }),
  );
}

/** @throws RemoteError `remote-damaged` if a result states too many bytes. */
export function assertSize(sizes: readonly number[]): void {
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > MOST_RESULT_BYTES) throw damaged(`the result states ${bytes} bytes of content, more than ${MOST_RESULT_BYTES}`);
}

/** @throws RemoteError `remote-damaged` if a digest has two sizes. */
function uniqueOf(blobs: readonly BlobDigest[]): Iterable<BlobDigest> {
  const byHash = new Map<string, BlobDigest>();
  for (const blob of blobs) {
    const sizeBytes = byHash.get(blob.hash)?.sizeBytes ?? blob.sizeBytes;
    if (sizeBytes !== blob.sizeBytes)
      throw damaged(`blob ${blob.hash.slice(0, 12)}… is stated with ${sizeBytes} and with ${blob.sizeBytes} bytes`);
    byHash.set(blob.hash, blob);
  }
  return byHash.values();
}

export function lostBlobs(count: number): RemoteError {
  return new RemoteError('remote-missing', 'missing', `the server has the result, but has lost ${countOf(count, 'blob')} of it`);
}

/** Items in groups of at most some MB, in their order. An item that is larger has a group of its own. */
export function groupsOf<Item>(items: readonly Item[], sizeOf: (item: Item) => number): readonly (readonly Item[])[] {
  const groups: Item[][] = [];
  let room = 0;
  for (const item of items) {
    const sizeBytes = sizeOf(item);
    if (sizeBytes > room || groups.length === 0) {
      groups.push([]);
      room = GROUP_BYTES;
    }
    groups.at(-1)?.push(item);
    room -= sizeBytes;
  }
  return groups;
}
