/** Cache maintenance: inspects, verifies and shrinks a cache that builds use. Operations that write hold the lock of these builds. */
import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Digest } from '../../../base/digest.js';
import { messageOf } from '../../model/engine-error.js';
import type { EnginePorts } from '../../model/ports.js';
import { openBlobStore } from '../blob-store.js';
import type { CacheFolder } from '../cache-folder.js';
import { listNames } from '../files/list-files.js';
import { isUnfinished } from '../files/write-file.js';
import { actionLocksFolder, isTakenAway, tryLock } from '../lock/action-locks.js';
import { acquireLock, type Lock } from '../lock/lock.js';
import { findForeign } from '../own-names.js';
import type { GarbageLimits, GarbagePlan } from './collect-garbage.js';
import { planGarbage, removeGarbage } from './collect-garbage.js';
import { type Inventory, takeInventory } from './inventory.js';

type Ports = Pick<EnginePorts, 'emit' | 'signal'>;

/**
 * The users of the folder. 'one checkout': its builds hold the lock. 'checkouts': their builds do not, so content that is new or was used
 * in the meantime is kept.
 */
export type Users = 'one checkout' | 'checkouts';

export interface Wanted {
  readonly users: Users;
  /** Digests that lock files name. */
  readonly pins: ReadonlySet<Digest>;
}

const BY_ITS_BUILDS: Wanted = { users: 'one checkout', pins: new Set() };

/** Builds that the lock does not block name a blob within seconds of writing it, and use a result as soon as they find it. */
const NEW_MS = 3_600_000;
/** Clocks of file systems may lag. */
const CLOCK_MS = 2_000;

export interface Collected extends GarbagePlan {
  /** Paths in the folder that no build wrote. They are kept. */
  readonly foreign: readonly string[];
}

/** Chooses what to remove. 'remove' also removes it, holding the lock. */
export async function collectGarbage(
  cache: CacheFolder,
  limits: GarbageLimits,
  mode: 'remove' | 'dry-run',
  nowMs: number,
  ports: Ports,
  { users, pins }: Wanted = BY_ITS_BUILDS,
): Promise<Collected> {
  const choose = (): Collected => ({
    ...planGarbage(takeInventory(cache, { pins, newerThanMs: newerThan(users, nowMs) }), limits, nowMs),
    foreign: findForeign(cache.root),
  });
  if (mode === 'dry-run') return choose();
  return withLock(cache, ports, async () => {
    const sinceMs = users === 'checkouts' ? nowMs - CLOCK_MS : Number.POSITIVE_INFINITY;
    const plan = choose();
    removeGarbage(cache, plan, sinceMs);
    await removeEndedActionLocks(cache, newerThan(users, nowMs), ports.signal);
    return plan;
  });
}

function newerThan(users: Users, nowMs: number): number {
  return users === 'checkouts' ? nowMs - NEW_MS : Number.POSITIVE_INFINITY;
}

export interface CacheCheck {
  readonly blobs: number;
  readonly records: number;
  /** Blobs whose bytes do not match their digest. They were removed. */
  readonly damagedBlobs: readonly Digest[];
  /** Paths in the folder that no build wrote. They are kept. */
  readonly foreign: readonly string[];
  /** Records that failed their check. They were removed. Incomplete files of killed processes are removed too, and not listed. */
  readonly damagedRecords: readonly string[];
  /** Records that name a missing blob. A build that needs such a result makes it again. */
  readonly incompleteRecords: readonly string[];
}

/** Reads every byte and removes damaged content, so that no build meets it. Holds the lock. */
export async function verifyCache(
  cache: CacheFolder,
  onBlob: (done: number, total: number) => void,
  ports: Ports,
  { users, nowMs }: { readonly users: Users; readonly nowMs: number } = { users: 'one checkout', nowMs: 0 },
): Promise<CacheCheck> {
  return withLock(cache, ports, async () => {
    const inventory = takeInventory(cache, { pins: new Set(), newerThanMs: newerThan(users, nowMs) });
    const damagedBlobs = await removeDamaged(cache, inventory, onBlob, ports.signal);
    removeGarbage(cache, { records: [], blobs: [], damaged: inventory.damaged, freedBytes: 0, keptBytes: 0 });
    const bad = new Set(damagedBlobs);
    const isIncomplete = (digest: Digest): boolean => bad.has(digest) || !inventory.blobs.has(digest);
    return {
      blobs: inventory.blobs.size,
      records: inventory.records.length,
      foreign: findForeign(cache.root),
      damagedBlobs,
      damagedRecords: inventory.damaged.filter(path => !isUnfinished(path)),
      incompleteRecords: inventory.records.filter(({ blobs }) => [...blobs].some(isIncomplete)).map(({ key }) => key),
    };
  });
}

async function removeDamaged(
  cache: CacheFolder,
  { blobs }: Inventory,
  onBlob: (done: number, total: number) => void,
  signal: AbortSignal,
): Promise<readonly Digest[]> {
  const store = openBlobStore(cache);
  const damaged: Digest[] = [];
  let done = 0;
  for (const digest of blobs.keys()) {
    signal.throwIfAborted();
    onBlob(done++, blobs.size);
    if ((await store.verify(digest)) === 'damaged') damaged.push(digest);
  }
  return damaged;
}

/**
 * Removes action locks of a shared cache that were released and not requested since. If one is taken at this moment, its action may run
 * twice, with the same result.
 */
async function removeEndedActionLocks(cache: CacheFolder, newerThanMs: number, signal: AbortSignal): Promise<void> {
  for (const name of listNames(actionLocksFolder(cache))) {
    const folder = join(actionLocksFolder(cache), name);
    const changedMs = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (changedMs < newerThanMs) await removeActionLock(folder, signal);
  }
}

async function removeActionLock(folder: string, signal: AbortSignal): Promise<void> {
  try {
    const lock = await tryLock(folder, signal);
    if (lock === undefined) return;
    // Renamed first, so that other processes find the folder missing or new, never half removed.
    const removed = `${folder}.${randomBytes(6).toString('hex')}`;
    await rename(folder, removed);
    await rm(removed, { recursive: true, force: true, maxRetries: 3 });
    await lock.release();
  } catch (error) {
    if (!isTakenAway(error)) throw error;
  }
}

/**
 * Runs work that must not overlap with a build, a garbage collection or an import in this folder. If the folder cannot be locked, warns as
 * a build does and goes on.
 */
export async function withLock<T>(cache: CacheFolder, { emit, signal }: Ports, work: (lock: Lock | undefined) => Promise<T>): Promise<T> {
  if (!existsSync(cache.root)) return work(undefined);
  const lock = await acquireLock(cache.lock, {
    signal,
    onWaiting: holder => emit({ kind: 'waiting-for-lock', folder: cache.root, holder }),
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    const message = `${cache.root} cannot be locked (${messageOf(error)}): let no other process use it at the same time`;
    emit({ kind: 'warning', stage: undefined, code: 'lock-unavailable', message });
    return undefined;
  });
  try {
    return await work(lock);
  } finally {
    await lock?.release();
  }
}
