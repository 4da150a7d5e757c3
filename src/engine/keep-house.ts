/** How is a cache looked at, checked and made smaller, beside builds that use it? What writes holds their lock. */
import { existsSync } from 'node:fs';
import type { Digest } from '../base/digest.js';
import { openBlobStore } from './cache/blob-store.js';
import type { CacheFolder } from './cache/cache-folder.js';
import type { GarbageLimits, GarbagePlan } from './cache/collect-garbage.js';
import { planGarbage, removeGarbage } from './cache/collect-garbage.js';
import { type Inventory, takeInventory } from './cache/inventory.js';
import { acquireLock } from './cache/lock.js';
import { isUnfinished } from './cache/write-file.js';
import { messageOf } from './engine-error.js';
import type { EnginePorts } from './ports.js';

type Ports = Pick<EnginePorts, 'emit' | 'signal'>;

/** Chooses what may go; 'remove' removes it, under the lock. */
export async function collectGarbage(
  cache: CacheFolder,
  limits: GarbageLimits,
  mode: 'remove' | 'dry-run',
  nowMs: number,
  ports: Ports,
): Promise<GarbagePlan> {
  if (mode === 'dry-run') return planGarbage(takeInventory(cache), limits, nowMs);
  return withLock(cache, ports, async () => {
    const plan = planGarbage(takeInventory(cache), limits, nowMs);
    removeGarbage(cache, plan);
    return plan;
  });
}

export interface CacheCheck {
  readonly blobs: number;
  readonly records: number;
  /** Blobs whose bytes do not have their digest: removed. */
  readonly damagedBlobs: readonly Digest[];
  /** Records that do not check, and files that are none: removed. Those that a kill left unfinished are removed too, and not told. */
  readonly damagedRecords: readonly string[];
  /** Records that name a blob which is not there: a build that wants such a result makes it again. */
  readonly incompleteRecords: readonly string[];
}

/** Reads every byte, and removes what is damaged, so that no build meets it. Under the lock. */
export async function verifyCache(cache: CacheFolder, onBlob: (done: number, total: number) => void, ports: Ports): Promise<CacheCheck> {
  return withLock(cache, ports, async () => {
    const inventory = takeInventory(cache);
    const damagedBlobs = await removeDamaged(cache, inventory, onBlob, ports.signal);
    removeGarbage(cache, { records: [], blobs: [], strangers: inventory.strangers, freedBytes: 0, keptBytes: 0 });
    const bad = new Set(damagedBlobs);
    const isIncomplete = (digest: Digest): boolean => bad.has(digest) || !inventory.blobs.has(digest);
    return {
      blobs: inventory.blobs.size,
      records: inventory.records.length,
      damagedBlobs,
      damagedRecords: inventory.strangers.filter(path => !isUnfinished(path)),
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

/** Does what must not meet a build, a collection or an import in this folder. Where it cannot be locked, says so, as a build does, and goes on. */
export async function withLock<T>(cache: CacheFolder, { emit, signal }: Ports, work: () => Promise<T>): Promise<T> {
  if (!existsSync(cache.root)) return work();
  const lock = await acquireLock(cache.lock, { signal, onWaiting: () => emit({ kind: 'waiting-for-lock', folder: cache.root }) }).catch(
    (error: unknown) => {
      signal.throwIfAborted();
      const message = `${cache.root} cannot be locked (${messageOf(error)}): let nothing else use it meanwhile`;
      emit({ kind: 'warning', stage: undefined, code: 'lock-unavailable', message });
      return undefined;
    },
  );
  try {
    return await work();
  } finally {
    await lock?.release();
  }
}
