/**
 * The inventory of a cache folder: its records with the blobs that they name, its blobs with their sizes, and what must be kept.
 * Taking it writes nothing.
 */
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
  /** Paths of own files in the folders of records and blobs that hold no intact record or blob. */
  readonly damaged: readonly string[];
  /** Blobs that are kept even if no record names them. */
  readonly heldBlobs: ReadonlySet<Digest>;
}

/** Content that must be kept in addition to what the states of this folder hold. */
export interface LockedOutputs {
  /** Digests of artifacts that may still be requested. Their blobs are kept, and so are records of results that consist of them. */
  readonly pins: ReadonlySet<Digest>;
  /** Files changed or used since then may be about to be used by a build. */
  readonly newerThanMs: number;
}

const HOLD_NOTHING: LockedOutputs = { pins: new Set(), newerThanMs: Number.POSITIVE_INFINITY };

export interface KeptRecord {
  readonly key: string;
  /** The plugin of the stage, or the name of the part, that the record belongs to. */
  readonly of: { readonly kind: 'stage' | 'part'; readonly name: string };
  readonly sizeBytes: number;
  /** When the record was made, or last used by a build with write access. */
  readonly lastUsedMs: number;
  /** Every blob that the results need, and the blobs that explain later changes. */
  readonly blobs: ReadonlySet<Digest>;
  /** The record is the accepted result of a stage of some pipeline. */
  readonly accepted: boolean;
  /** The record is kept whatever the limits: it is accepted, pinned, or too new. */
  readonly held: boolean;
}

export function takeInventory(cache: CacheFolder, { pins, newerThanMs }: LockedOutputs = HOLD_NOTHING): Inventory {
  const damaged: string[] = [];
  const blobs = new Map<Digest, number>();
  const heldBlobs = new Set<Digest>();
  const noteDamaged = (path: string): void => {
    const stat = isOwnFile(relative(cache.root, path).replaceAll(sep, '/')) ? findStats(path) : undefined;
    if (stat !== undefined && stat.ctimeMs < newerThanMs) damaged.push(path);
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

/** A listed file may be gone, because builds may run at the same time. */
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

/** Every blob that a result needs. For a folder this includes the blobs of its files. */
export function blobsOf({ outputs, log, parts }: ActionResult, read: ReadBlob): Digest[] {
  const found = [log, parts].flatMap(ref => ref?.digest ?? []);
  for (const { kind, digest } of Object.values(outputs)) {
    found.push(...(kind === 'tree' ? withTree(digest, read) : [digest]));
  }
  return found;
}

/** A blob and, if it is the document of a folder, the blobs of its files. */
function withTree(digest: Digest, read: ReadBlob): readonly Digest[] {
  const entries = decodeTree(read(digest)?.toString('utf8') ?? '') ?? [];
  return [digest, ...entries.flatMap(entry => (entry.kind === 'file' ? [entry.digest] : []))];
}

/**
 * Documents of folders and code whose digests a manifest contains. Without them a result is still valid, but its changes are explained
 * without naming files.
 */
export function notesOf({ code, inputs }: JsonObject): readonly Digest[] {
  const ports = isJsonObject(inputs) ? Object.values(inputs).filter(isJsonObject) : [];
  const artifacts = ports.flatMap(port => [port, ...Object.values(port).filter(isJsonObject)]);
  return [code, ...artifacts.filter(({ kind }) => kind === 'tree').map(({ digest }) => digest)].flatMap(text => parseDigest(text) ?? []);
}

/** Keys of the accepted results in the states of all pipelines. */
function findAccepted(cache: CacheFolder): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { name, path } of filesUnder(join(cache.root, 'state'))) {
    if (!name.endsWith('.log')) continue;
    for (const { key } of loadState(path).state.stages.values()) keys.add(key);
  }
  return keys;
}
