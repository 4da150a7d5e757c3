/** Takes one result from a remote cache. Nothing counts as found before the server was seen to have all of it. */
import { rm } from 'node:fs/promises';
import { digestBytes } from '../../../base/digest.js';
import { countOf } from '../../../base/text/count-of.js';
import { damaged, RemoteError } from '../../../remote/error/remote-error.js';
import type { BlobDigest } from '../../../remote/transport/remote-cache.js';
import type { ActionResult } from '../action-records.js';
import { actionOf, type EntryHead, type ReadEntry, readEntry, readHead } from './entry.js';
import type { LocalStores, RemoteUse } from './remote-use.js';
import { checkSignature } from './signatures.js';

export interface Ends {
  readonly use: RemoteUse;
  readonly local: LocalStores;
}

/** Larger blobs are written to files as they arrive. */
const LARGE_BYTES = 1 << 20;

/** Small blobs that are in memory together. */
const GROUP_BYTES = 32 << 20;

/** A result that the server has, with all that it names. */
export interface FoundResult {
  readonly result: ActionResult;
  /** Brings it into the local cache, complete and verified. @throws RemoteError. */
  bring(): Promise<ActionResult>;
}

/** Finds the result of an action; undefined if the remote cache has none. @throws RemoteError. */
export async function findResult(ends: Ends, key: string): Promise<FoundResult | undefined> {
  const { use } = ends;
  const { cache } = use;
  const wire = await cache.getResult(actionOf(key, use.salt).action);
  if (wire === undefined) return undefined;
  const head = readHead(wire);
  checkSignature(use.signatures, { holds: 'result', key, digest: head.record.hash }, wire.stderrRaw);
  const entry = await readWhole(ends, key, head);
  return { result: entry.result, bring: () => bring(ends, key, entry) };
}

async function bring(ends: Ends, key: string, entry: ReadEntry): Promise<ActionResult> {
  const { local } = ends;
  await download(ends, entry.blobs);
  for (const document of entry.documents) await local.store.storeBytes(document, 'no-flush');
  await local.records.merge(key, { manifest: entry.manifest, results: [entry.result] });
  return entry.result;
}

/** Reads what an entry states, and makes sure that the server has all of it before anything counts as found. */
async function readWhole({ use }: Ends, key: string, head: EntryHead): Promise<ReadEntry> {
  const { cache } = use;
  const named = [...head.trees.values(), ...[...head.files.values()].map(({ digest }) => digest)];
  const wanted = [...(head.inline === undefined ? [head.record] : []), ...head.trees.values()];
  const [missing, small] = await Promise.all([cache.findMissing(named), cache.readBlobs(wanted)]);
  assertThere(missing);
  const record = head.inline ?? small.get(head.record.hash);
  if (record === undefined || [...head.trees.values()].some(({ hash }) => !small.has(hash))) throw lost(1);
  if (head.inline !== undefined) assertInline(head);
  const entry = readEntry(key, head, record, small);
  const known = new Set(named.map(({ hash }) => hash));
  const inTrees = entry.blobs.filter(({ hash }) => !known.has(hash));
  if (inTrees.length > 0) assertThere(await cache.findMissing(inTrees));
  return entry;
}

function assertInline({ inline, record }: EntryHead): void {
  if (inline === undefined || inline.length !== record.sizeBytes || digestBytes(inline) !== record.hash)
    throw damaged('its record has other bytes than its digest states');
}

function assertThere(missing: readonly BlobDigest[] | 'unable'): void {
  if (missing !== 'unable' && missing.length > 0) throw lost(missing.length);
}

function lost(count: number): RemoteError {
  return new RemoteError('remote-missing', 'missing', `the server has the result, but has lost ${countOf(count, 'blob')} of it`);
}

/** Brings blobs into the local store, each verified. What the store has already is not downloaded. */
async function download({ use, local }: Ends, blobs: readonly BlobDigest[]): Promise<void> {
  const { store, cache: folder } = local;
  const wanted: BlobDigest[] = [];
  for (const blob of blobs) if ((await store.sizeOf(blob.hash)) !== blob.sizeBytes) wanted.push(blob);
  const large = wanted.filter(({ sizeBytes }) => sizeBytes > LARGE_BYTES);
  for (const group of groupsOf(wanted.filter(({ sizeBytes }) => sizeBytes <= LARGE_BYTES))) {
    const found = await use.cache.readBlobs(group);
    if (found.size < group.length) throw lost(group.length - found.size);
    for (const bytes of found.values()) await store.storeBytes(bytes, 'no-flush');
  }
  await Promise.all(
    large.map(async blob => {
      const path = folder.newTemporary('remote');
      try {
        if ((await use.cache.readFile(blob, path)) === 'missing') throw lost(1);
        await store.takeFile(path, blob.hash, 'no-flush');
      } finally {
        await rm(path, { force: true });
      }
    }),
  );
}

function groupsOf(blobs: readonly BlobDigest[]): readonly (readonly BlobDigest[])[] {
  const groups: BlobDigest[][] = [];
  let room = 0;
  for (const blob of blobs) {
    if (blob.sizeBytes > room || groups.length === 0) {
      groups.push([]);
      room = GROUP_BYTES;
    }
    groups.at(-1)?.push(blob);
    room -= blob.sizeBytes;
  }
  return groups;
}
