/** What is in a cache folder, and what holds it there? Every record with the blobs that it names, every blob with its size. Writes nothing. */
import { type Stats, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Digest } from '../../../base/digest.js';
import { parseDigest } from '../../../base/digest.js';
import { isJsonObject, type JsonObject } from '../../../base/json.js';
import type { Artifacts } from '../../model/artifact.js';
import type { ActionRecord, ActionResult } from '../action-records.js';
import { readRecord } from '../action-records.js';
import { type ReadBlob, readBlob } from '../blob-store.js';
import type { CacheFolder } from '../cache-folder.js';
import { filesUnder } from '../files/list-files.js';
import { decodeTree } from '../files/tree.js';
import { isOwnFile } from '../own-names.js';
import { loadState } from '../state-log.js';

export interface Inventory {
  readonly blobs: ReadonlyMap<Digest, number>;
  readonly records: readonly KeptRecord[];
  /** Paths of files with names of ours in the records' and blobs' folders that hold no whole record or blob. */
  readonly damaged: readonly string[];
  /** Blobs that stay though no record may name them. */
  readonly heldBlobs: ReadonlySet<Digest>;
}

/** What is not to be taken for garbage, besides what the states of this folder hold. */
export interface Hold {
  /** Contents of artifacts that somebody may want by their digests: their blobs stay, and the records of results that consist of them. */
  readonly pins: ReadonlySet<Digest>;
  /** What has changed since, or was used, may be what a build is about to use. */
  readonly newerThanMs: number;
}

const HOLD_NOTHING: Hold = { pins: new Set(), newerThanMs: Number.POSITIVE_INFINITY };

export interface KeptRecord {
  readonly key: string;
  /** Whose work: a stage's, by its plugin, or a part of one. */
  readonly of: { readonly kind: 'stage' | 'part'; readonly name: string };
  readonly sizeBytes: number;
  /** When it was made, or last used by a build that wrote. */
  readonly lastUsedMs: number;
  /** Every blob that its results need, and those that are there to explain later changes. */
  readonly blobs: ReadonlySet<Digest>;
  /** It is the accepted result of a stage of some pipeline. */
  readonly accepted: boolean;
  /** It stays, whatever the limits: accepted, pinned, or too new. */
  readonly held: boolean;
}

export function takeInventory(cache: CacheFolder, { pins, newerThanMs }: Hold = HOLD_NOTHING): Inventory {
  const damaged: string[] = [];
  const blobs = new Map<Digest, number>();
  const heldBlobs = new Set<Digest>();
  const noteDamaged = (path: string): void => {
    const look = isOwnFile(relative(cache.root, path).replaceAll(sep, '/')) ? findStats(path) : undefined;
    if (look !== undefined && look.ctimeMs < newerThanMs) damaged.push(path);
  };
  for (const { name, path } of filesUnder(join(cache.root, 'cas'))) {
    const digest = parseDigest(name);
    const stats = digest === undefined || path !== cache.blob(digest) ? undefined : findStats(path);
    if (digest === undefined || stats === undefined) {
      noteDamaged(path);
      continue;
    }
    blobs.set(digest, stats.size);
    if (stats.ctimeMs >= newerThanMs) heldBlobs.add(digest);
  }
  const read: ReadBlob = digest => readBlob({ ...cache, shared: undefined }, digest);
  const accepted = findAccepted(cache);
  const records: KeptRecord[] = [];
  for (const { name, path } of filesUnder(join(cache.root, 'actions'))) {
    const key = name.replace(/\.json$/, '');
    const record = path === cache.record(key) ? readRecord(cache, key) : undefined;
    const stats = findStats(path);
    if (record === undefined || record === 'damaged' || stats === undefined) noteDamaged(path);
    else {
      const isAccepted = accepted.has(key);
      const held = isAccepted || stats.ctimeMs >= newerThanMs || record.results.some(({ outputs }) => consistsOf(outputs, pins));
      const notes = notesOf(record.manifest).filter(digest => blobs.has(digest));
      records.push(describe(key, record, stats, { read, notes }, { accepted: isAccepted, held }));
    }
  }
  for (const digest of pins) for (const one of withTree(digest, read)) heldBlobs.add(one);
  return { blobs, records, damaged, heldBlobs };
}

/** Beside builds, a file that was listed may be gone. */
function findStats(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function describe(
  key: string,
  record: ActionRecord,
  { size, mtimeMs }: Stats,
  { read, notes }: { readonly read: ReadBlob; readonly notes: readonly Digest[] },
  why: Pick<KeptRecord, 'accepted' | 'held'>,
): KeptRecord {
  const { part, plugin } = record.manifest;
  return {
    key,
    of: typeof part === 'string' ? { kind: 'part', name: part } : { kind: 'stage', name: typeof plugin === 'string' ? plugin : '?' },
    sizeBytes: size,
    lastUsedMs: mtimeMs,
    blobs: new Set([...record.results.flatMap(result => blobsOf(result, read)), ...notes]),
    ...why,
  };
}

function consistsOf(outputs: Artifacts, pins: ReadonlySet<Digest>): boolean {
  const all = Object.values(outputs);
  return all.length > 0 && all.every(({ digest }) => pins.has(digest));
}

/** Every blob that a result needs: of a folder also those of its files. */
export function blobsOf({ outputs, log, parts }: ActionResult, read: ReadBlob): Digest[] {
  const found = [log, parts].flatMap(ref => ref?.digest ?? []);
  for (const { kind, digest } of Object.values(outputs)) {
    found.push(...(kind === 'tree' ? withTree(digest, read) : [digest]));
  }
  return found;
}

/** A blob, and where it is the document of a folder, the blobs of its files. */
function withTree(digest: Digest, read: ReadBlob): readonly Digest[] {
  const entries = decodeTree(read(digest)?.toString('utf8') ?? '') ?? [];
  return [digest, ...entries.flatMap(entry => (entry.kind === 'file' ? [entry.digest] : []))];
}

/** Documents of the folders and the code that a manifest has digests of: without them a result is as good, and its changes are told without their files. */
export function notesOf({ code, inputs }: JsonObject): readonly Digest[] {
  const ports = isJsonObject(inputs) ? Object.values(inputs).filter(isJsonObject) : [];
  const artifacts = ports.flatMap(port => [port, ...Object.values(port).filter(isJsonObject)]);
  return [code, ...artifacts.filter(({ kind }) => kind === 'tree').map(({ digest }) => digest)].flatMap(text => parseDigest(text) ?? []);
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
