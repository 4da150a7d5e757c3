/**
 * Imports an archive into a cache.
 * A blob must match its digest. A record must be well-formed, have its own key, and name only blobs that are present.
 */
import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import type { Digest } from '../../../base/digest.js';
import { digestJson } from '../../../base/digest.js';
import { type ActionRecord, type ActionRecords, decodeRecord, openActionRecords } from '../action-records.js';
import { type BlobStore, openBlobStore, readBlob } from '../blob-store.js';
import type { CacheFolder } from '../cache-folder.js';
import { statPath } from '../files/stamp.js';
import { decodeTree } from '../files/tree.js';
import { blobsOf } from '../maintenance/inventory.js';
import type { ArchiveBytes } from './archive-bytes.js';
import { type Frame, readFrames } from './archive-format.js';

export interface TakenArchive {
  /** Results that are new here. */
  readonly records: number;
  readonly blobs: number;
  readonly sizeBytes: number;
  /** Records and blobs that were here already. */
  readonly known: number;
  /** Keys of actions with conflicting results: the cache already has results with different bytes. These are kept and preferred. */
  readonly different: readonly string[];
  /** Frames that fail their check: the bytes do not match the digest, or are not a record of the key. Not imported. */
  readonly damaged: readonly string[];
  /**
   * Keys of records that cannot be restored: a blob that they name is missing or damaged in both the archive and the cache, or has another
   * size, or is not the folder that it should be. Not imported.
   */
  readonly incomplete: readonly string[];
}

/** A record takes a few kilobytes. A larger frame is not a record. */
const MAX_RECORD_BYTES = 1 << 26;
/** Limit for the list of files of a folder: about two million files. */
const MAX_TREE_BYTES = 1 << 28;

/**
 * Imports all content that verifies. Names in the archive are digests, and nothing else in it becomes a path. One chunk of a blob is in
 * memory at a time.
 * Call only while holding the lock.
 * @throws EngineError like `readFrames`; frames before the error are imported.
 */
export async function takeArchive(cache: CacheFolder, archive: ArchiveBytes, signal: AbortSignal): Promise<TakenArchive> {
  const store = openBlobStore(cache);
  const records = openActionRecords(cache);
  const count = { records: 0, blobs: 0, sizeBytes: 0, known: 0 };
  const notes = { different: [] as string[], damaged: [] as string[], incomplete: [] as string[] };
  for await (const frame of readFrames(archive)) {
    signal.throwIfAborted();
    if (frame.kind === 'blob') {
      const end = await takeBlob(frame, cache, store);
      if (end === 'damaged') notes.damaged.push(frame.name);
      else if (end === 'known') count.known++;
      else {
        count.blobs++;
        count.sizeBytes += frame.sizeBytes;
      }
      continue;
    }
    const end = await takeRecord(frame, cache, records);
    if (end === 'added') count.records++;
    else if (end === 'known') count.known++;
    else notes[end].push(frame.name);
  }
  return { ...count, ...notes };
}

async function takeBlob({ name, sizeBytes, body }: Frame, cache: CacheFolder, store: BlobStore): Promise<'added' | 'known' | 'damaged'> {
  if (statPath(cache.blob(name))?.sizeBytes === sizeBytes && (await store.check(name)) === 'found') return 'known';
  const temporary = cache.newTemporary('import');
  try {
    if ((await writeBody(temporary, body)) !== name) return 'damaged';
    await store.takeFile(temporary, name, 'no-flush');
    return 'added';
  } finally {
    await rm(temporary, { force: true });
  }
}

/** @returns the digest of the written bytes. */
async function writeBody(path: string, body: Frame['body']): Promise<string> {
  const hasher = createHash('sha256');
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of body) {
      hasher.update(chunk);
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
  return hasher.digest('hex');
}

async function takeRecord(
  { name, sizeBytes, body }: Frame,
  cache: CacheFolder,
  records: ActionRecords,
): Promise<'added' | 'known' | 'different' | 'damaged' | 'incomplete'> {
  if (sizeBytes > MAX_RECORD_BYTES) return 'damaged';
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const record = decodeRecord(Buffer.concat(chunks).toString('utf8'));
  if (record === undefined || !hasKey(record, name)) return 'damaged';
  if (!isComplete(record, cache)) return 'incomplete';
  return records.merge(name, record);
}

/** Whether the record belongs to the action of this key. */
function hasKey({ manifest }: ActionRecord, key: Digest): boolean {
  try {
    return digestJson(manifest) === key;
  } catch {
    // The manifest is nested too deeply for the stack. Tanren writes no such manifest.
    return false;
  }
}

function isComplete({ results }: ActionRecord, cache: CacheFolder): boolean {
  const sizeOf = (digest: Digest): number => statPath(cache.blob(digest))?.sizeBytes ?? Number.POSITIVE_INFINITY;
  return results.every(result => {
    const readTree = (digest: Digest) => decodeTree(readBlob({ ...cache, shared: undefined }, digest)?.toString('utf8') ?? '');
    for (const { kind, digest, sizeBytes } of Object.values(result.outputs)) {
      if (kind === 'file' && sizeOf(digest) !== sizeBytes) return false;
      if (kind === 'tree' && (sizeOf(digest) > MAX_TREE_BYTES || readTree(digest) === undefined)) return false;
    }
    return blobsOf(result, digest => readBlob({ ...cache, shared: undefined }, digest)).every(digest => Number.isFinite(sizeOf(digest)));
  });
}
