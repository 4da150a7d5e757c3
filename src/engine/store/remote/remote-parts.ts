/** Parts of stages in a remote cache: they are stored in packs, which an index per stage lists. */
import { RemoteError } from '../../../remote/error/remote-error.js';
import type { BlobDigest } from '../../../remote/transport/remote-cache.js';
import type { ActionResult } from '../action-records.js';
import { partsOf } from '../part-list.js';
import { actionOf, blobOf } from './entry.js';
import type { Ends } from './fetch-result.js';
import {
  decodeIndex,
  encodeIndex,
  indexKeyOf,
  MOST_PACK_BYTES,
  MOST_PACKS,
  type Pack,
  readIndexResult,
  resultOfIndex,
} from './part-index.js';
import { decodePack, encodePack, type PackedPart, readPart } from './part-pack.js';
import { checkSignature, signEntry } from './signatures.js';

/** A pack is closed when it has this many bytes: a few calls fetch thousands of parts, and few that are not needed. */
const PACK_BYTES = 8 << 20;

/** The packs of a stage; none if the cache has no index. @throws RemoteError. */
export async function fetchIndex({ use }: Ends, stage: string, plugin: string): Promise<readonly Pack[]> {
  const { cache, salt, signatures } = use;
  const key = indexKeyOf(stage, plugin);
  const result = await cache.getResult(actionOf(key, salt, 'parts').action);
  if (result === undefined) return [];
  const { index, named } = readIndexResult(result);
  checkSignature(signatures, { holds: 'parts', key, digest: index.hash }, result.stderrRaw);
  const bytes = (await cache.readBlobs([index])).get(index.hash);
  // A server that lost the index has lost its use.
  return bytes === undefined ? [] : decodeIndex(bytes, named);
}

/** Brings all parts of a pack into the local cache, each verified. @returns false if the server no longer has the pack. @throws RemoteError. */
export async function fetchPack({ use, local }: Ends, { blob, parts }: Pack): Promise<boolean> {
  const bytes = (await use.cache.readBlobs([blob])).get(blob.hash);
  if (bytes === undefined) return false;
  for (const { key, record, blobs } of decodePack(bytes, new Set(parts))) {
    for (const one of blobs) await local.store.storeBytes(one, 'no-flush');
    await local.records.merge(key, record);
  }
  return true;
}

/** Sends those parts of a result that the stage's index does not list yet. The index goes last. @throws RemoteError. */
export async function sendParts(ends: Ends, stage: string, plugin: string, result: ActionResult): Promise<void> {
  const { use, local } = ends;
  const list = result.parts === undefined ? undefined : await local.store.read(result.parts.digest);
  const keys = list === undefined ? [] : partsOf({ manifest: {}, results: [result] }, () => list);
  if (keys.length === 0) return;
  const kept = packsToKeep(await fetchTrusted(ends, stage, plugin), new Set(keys));
  const known = new Set(kept.flatMap(({ parts }) => parts));
  const fresh: Pack[] = [];
  for await (const parts of packsOf(
    ends,
    keys.filter(key => !known.has(key)),
  )) {
    const pack = blobOf(encodePack(parts));
    await sendMissing(ends, [pack]);
    fresh.push({ blob: { hash: pack.hash, sizeBytes: pack.sizeBytes }, parts: parts.map(({ key }) => key) });
  }
  if (fresh.length === 0) return;
  const packs = [...fresh, ...kept].slice(0, MOST_PACKS);
  const index = blobOf(encodeIndex(packs));
  const key = indexKeyOf(stage, plugin);
  const { action, blobs } = actionOf(key, use.salt, 'parts');
  await sendMissing(ends, [...blobs, index]);
  const signature = signEntry(use.signatures, { holds: 'parts', key, digest: index.hash });
  await use.cache.putResult(action, resultOfIndex({ hash: index.hash, sizeBytes: index.sizeBytes }, packs, signature));
}

/** What a writer may extend: an index of a key that it does not trust is replaced, so that it never signs what others wrote. */
async function fetchTrusted(ends: Ends, stage: string, plugin: string): Promise<readonly Pack[]> {
  try {
    return await fetchIndex(ends, stage, plugin);
  } catch (error) {
    if (error instanceof RemoteError && error.code === 'remote-unsigned') return [];
    throw error;
  }
}

/**
 * Packs that stay in the index: those with parts of the result, and the newest others. Many small packs of one result are repacked, so that
 * their number does not grow with every build.
 */
function packsToKeep(packs: readonly Pack[], wanted: ReadonlySet<string>): readonly Pack[] {
  const used = packs.filter(({ parts }) => parts.some(key => wanted.has(key)));
  const small = used.filter(({ blob }) => blob.sizeBytes < PACK_BYTES / 2);
  const crowded = small.length > MOST_PACKS / 4 ? new Set(small) : new Set<Pack>();
  return packs.filter(pack => !crowded.has(pack)).slice(0, MOST_PACKS - 1);
}

/** The parts that the local cache has, in groups of one pack each. */
async function* packsOf({ local }: Ends, keys: readonly string[]): AsyncGenerator<readonly PackedPart[]> {
  let group: PackedPart[] = [];
  let bytes = 0;
  for (const key of keys) {
    const part = await readPart(local.store, key, await local.records.find(key));
    const size = part?.blobs.reduce((sum, blob) => sum + blob.length, 0) ?? 0;
    if (part === undefined || size > MOST_PACK_BYTES / 2) continue;
    group.push(part);
    bytes += size;
    if (bytes < PACK_BYTES) continue;
    yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 0) yield group;
}

async function sendMissing({ use }: Ends, blobs: readonly ReturnType<typeof blobOf>[]): Promise<void> {
  const missing = await use.cache.findMissing(blobs);
  const wanted = missing === 'unable' ? undefined : new Set<string>(missing.map(({ hash }: BlobDigest) => hash));
  await use.cache.writeBlobs(wanted === undefined ? blobs : blobs.filter(({ hash }) => wanted.has(hash)));
}
