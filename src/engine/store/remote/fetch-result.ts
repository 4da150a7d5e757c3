/** Takes one result from a remote cache. Nothing counts as found before the server was seen to have all of it. */
import { digestBytes } from '../../../base/digest.js';
import { damaged } from '../../../remote/error/remote-error.js';
import type { BlobDigest } from '../../../remote/transport/remote-cache.js';
import type { ActionResult } from '../action-records.js';
import { bringBlobs, lostBlobs } from './bring-blobs.js';
import { actionOf, type EntryHead, type ReadEntry, readEntry, readHead } from './entry.js';
import type { LocalStores, RemoteUse } from './remote-use.js';
import { checkSignature } from './signatures.js';

export interface Ends {
  readonly use: RemoteUse;
  readonly local: LocalStores;
}

/** A result that the server has, with all that it names. */
export interface FoundResult {
  readonly result: ActionResult;
  /** Tree documents of its outputs. */
  readonly documents: readonly string[];
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
  return { result: entry.result, documents: entry.documents, bring: () => bring(ends, key, entry) };
}

async function bring(ends: Ends, key: string, entry: ReadEntry): Promise<ActionResult> {
  const { local, use } = ends;
  await bringBlobs(use.cache, local, entry.blobs);
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
  if (record === undefined || [...head.trees.values()].some(({ hash }) => !small.has(hash))) throw lostBlobs(1);
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
  if (missing !== 'unable' && missing.length > 0) throw lostBlobs(missing.length);
}
