/**
 * Garbage collection of a cache: removes unreferenced blobs and, beyond the limits, the least recently used results.
 * Results that the last build of a pipeline accepted or a lock file pins are never removed.
 */
import { rmdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Digest } from '../../../base/digest.js';
import type { CacheFolder } from '../cache-folder.js';
import { filesUnder } from '../files/list-files.js';
import type { Inventory, KeptRecord } from './inventory.js';

export interface GarbageLimits {
  /** Limit for blobs and records together. Results that pipelines hold are kept even if they alone exceed it. */
  readonly maxSizeBytes?: number | undefined;
  /** Results unused for longer are removed. */
  readonly maxAgeMs?: number | undefined;
}

export interface GarbagePlan {
  /** Least recently used first. */
  readonly records: readonly KeptRecord[];
  readonly blobs: readonly { readonly digest: Digest; readonly sizeBytes: number }[];
  /** Damaged records, and incomplete files of killed processes. */
  readonly damaged: readonly string[];
  readonly freedBytes: number;
  /** Size of the blobs and records that are kept. */
  readonly keptBytes: number;
}

/** Chooses what to remove. Equal inventory, limits and time give an equal plan. */
export function planGarbage(inventory: Inventory, limits: GarbageLimits, nowMs: number): GarbagePlan {
  const uses = countUses(inventory.records);
  const unnamed = [...inventory.blobs.keys()].filter(digest => !uses.has(digest) && !inventory.heldBlobs.has(digest));
  const blobs = new Map<Digest, number>(unnamed.map(digest => [digest, inventory.blobs.get(digest) ?? 0]));
  let keptBytes = sizeOf(inventory) - sum(blobs.values());
  const records: KeptRecord[] = [];
  const oldestFirst = inventory.records.filter(({ held }) => !held).sort((a, b) => a.lastUsedMs - b.lastUsedMs || (a.key < b.key ? -1 : 1));
  for (const record of oldestFirst) {
    const tooOld = limits.maxAgeMs !== undefined && nowMs - record.lastUsedMs > limits.maxAgeMs;
    const tooMuch = limits.maxSizeBytes !== undefined && keptBytes > limits.maxSizeBytes;
    if (!tooOld && !tooMuch) break;
    records.push(record);
    keptBytes -= record.sizeBytes;
    for (const digest of record.blobs) {
      const left = (uses.get(digest) ?? 0) - 1;
      uses.set(digest, left);
      if (left > 0 || inventory.heldBlobs.has(digest)) continue;
      const sizeBytes = inventory.blobs.get(digest);
      if (sizeBytes === undefined) continue;
      blobs.set(digest, sizeBytes);
      keptBytes -= sizeBytes;
    }
  }
  const freedBytes = sum(blobs.values()) + sum(records.map(record => record.sizeBytes)) + sum(inventory.damaged.map(sizeOfFile));
  return {
    records,
    blobs: [...blobs].map(([digest, sizeBytes]) => ({ digest, sizeBytes })),
    damaged: inventory.damaged,
    freedBytes,
    keptBytes,
  };
}

/**
 * Removes what the plan names: records first, so that no record remains without its blobs. Call only while holding the lock.
 * @param sinceMs files changed since then are kept: builds that this lock does not block have used them in the meantime.
 */
export function removeGarbage(cache: CacheFolder, plan: GarbagePlan, sinceMs = Number.POSITIVE_INFINITY): void {
  const remove = (path: string): void => {
    const changedMs = statSync(path, { throwIfNoEntry: false })?.ctimeMs;
    if (changedMs !== undefined && changedMs < sinceMs) rmSync(path, { force: true });
  };
  for (const { key } of plan.records) remove(cache.record(key));
  for (const path of plan.damaged) remove(path);
  for (const { digest } of plan.blobs) remove(cache.blob(digest));
  const folders = [...plan.records.map(({ key }) => cache.record(key)), ...plan.blobs.map(({ digest }) => cache.blob(digest))].map(dirname);
  for (const folder of new Set(folders)) removeIfEmpty(folder);
}

function removeIfEmpty(folder: string): void {
  if (filesUnder(folder).length > 0) return;
  try {
    rmdirSync(folder);
  } catch {
    // The folder is already removed, or cannot be removed. An empty folder costs nothing.
  }
}

/** Size of blobs and whole records in bytes. */
export function sizeOf({ blobs, records }: Inventory): number {
  return sum(blobs.values()) + sum(records.map(({ sizeBytes }) => sizeBytes));
}

/** Size in bytes of the other content of the cache: states, logs, plans. */
export function sizeOfRest(cache: CacheFolder): number {
  return sum(['state', 'logs', 'plans'].flatMap(name => filesUnder(join(cache.root, name)).map(({ path }) => sizeOfFile(path))));
}

function countUses(records: readonly KeptRecord[]): Map<Digest, number> {
  const uses = new Map<Digest, number>();
  for (const { blobs } of records) for (const digest of blobs) uses.set(digest, (uses.get(digest) ?? 0) + 1);
  return uses;
}

function sizeOfFile(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
