/** What is in a cache folder, and what holds it there? Every record with the blobs that it names, every blob with its size. Writes nothing. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { parseDigest } from '../../base/digest.js';
import { isMissing } from '../engine-error.js';
import type { ActionRecord, ActionResult } from './action-records.js';
import { openActionRecords } from './action-records.js';
import type { BlobStore } from './blob-store.js';
import { openBlobStore } from './blob-store.js';
import type { CacheFolder } from './cache-folder.js';
import { loadState } from './state-log.js';
import { decodeTree } from './tree.js';

export interface Inventory {
  readonly blobs: ReadonlyMap<Digest, number>;
  readonly records: readonly KeptRecord[];
  /** Paths of files in the records' and blobs' folders that are no whole record and no blob by their names. */
  readonly strangers: readonly string[];
}

export interface KeptRecord {
  readonly key: string;
  /** Whose work: a stage's, by its plugin, or a part of one. */
  readonly of: { readonly kind: 'stage' | 'part'; readonly name: string };
  readonly sizeBytes: number;
  /** When it was made, or last used by a build that wrote. */
  readonly lastUsedMs: number;
  /** Every blob that its results need. */
  readonly blobs: ReadonlySet<Digest>;
  /** It is the accepted result of a stage of some pipeline. */
  readonly accepted: boolean;
}

export function takeInventory(cache: CacheFolder): Inventory {
  const strangers: string[] = [];
  const blobs = new Map<Digest, number>();
  for (const { name, path } of filesUnder(join(cache.root, 'cas'))) {
    const digest = parseDigest(name);
    if (digest === undefined || path !== cache.blob(digest)) strangers.push(path);
    else blobs.set(digest, statSync(path).size);
  }
  const store = openBlobStore(cache);
  const read = openActionRecords(cache);
  const accepted = findAccepted(cache);
  const records: KeptRecord[] = [];
  for (const { name, path } of filesUnder(join(cache.root, 'actions'))) {
    const key = name.replace(/\.json$/, '');
    const record = path === cache.record(key) ? read.find(key) : undefined;
    if (record === undefined || record === 'damaged') strangers.push(path);
    else records.push(describe(key, record, { path, store, accepted: accepted.has(key) }));
  }
  return { blobs, records, strangers };
}

function describe(
  key: string,
  record: ActionRecord,
  { path, store, accepted }: { readonly path: string; readonly store: BlobStore; readonly accepted: boolean },
): KeptRecord {
  const { size, mtimeMs } = statSync(path);
  const { part, plugin } = record.manifest;
  return {
    key,
    of: typeof part === 'string' ? { kind: 'part', name: part } : { kind: 'stage', name: typeof plugin === 'string' ? plugin : '?' },
    sizeBytes: size,
    lastUsedMs: mtimeMs,
    blobs: new Set(record.results.flatMap(result => blobsOf(result, store))),
    accepted,
  };
}

/** Every blob that a result needs: of a folder also those of its files. */
export function blobsOf({ outputs, log }: ActionResult, store: BlobStore): Digest[] {
  const found = log === undefined ? [] : [log];
  for (const { kind, digest } of Object.values(outputs)) {
    found.push(digest);
    const document = kind === 'tree' ? store.read(digest)?.toString('utf8') : undefined;
    for (const entry of document === undefined ? [] : (decodeTree(document) ?? [])) if (entry.kind === 'file') found.push(entry.digest);
  }
  return found;
}

/** Keys of what any pipeline's state holds for its stages' results. */
function findAccepted(cache: CacheFolder): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { name, path } of filesUnder(join(cache.root, 'state'))) {
    if (!name.endsWith('.log')) continue;
    for (const { key } of loadState(path).state.stages.values()) keys.add(key);
  }
  return keys;
}

interface FoundFile {
  readonly name: string;
  readonly path: string;
}

/** All files below, in the order of their paths. A folder that is not there holds none. */
export function filesUnder(folder: string): FoundFile[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(entry => {
        const path = join(folder, entry.name);
        return entry.isDirectory() ? filesUnder(path) : [{ name: entry.name, path }];
      });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
