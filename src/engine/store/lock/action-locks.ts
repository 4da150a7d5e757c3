/**
 * Locks of actions: equal actions run one at a time, in one build and across checkouts that share a cache. The others wait for
 * the result.
 */
import { join } from 'node:path';
import { hasCode, isMissing } from '../../../base/system-error.js';
import { messageOf } from '../../model/engine-error.js';
import type { EnginePorts } from '../../model/ports.js';
import type { CacheFolder } from '../cache-folder.js';
import { acquireLock, type Lock } from './lock.js';

export type ActionLock =
  /** 'alone': no other build can want the action. 'first': another build may have run it until now, so look for its result first. */
  | { readonly kind: 'alone' | 'first'; end(): Promise<void> }
  /** `over` resolves when the lock may be requested again. It rejects if the build is cancelled. */
  | { readonly kind: 'other'; readonly where: 'here' | 'elsewhere'; over(): Promise<void> };

export interface ActionLocks {
  take(key: string): Promise<ActionLock>;
}

const alone: ActionLock = { kind: 'alone', end: () => Promise.resolve() };

/** Locks within one build and, inside them, locks between the checkouts that share its cache. */
export function createActionLocks(cache: CacheFolder, ports: Pick<EnginePorts, 'signal' | 'emit'>): ActionLocks {
  const between = createSharedActionLocks(cache, ports);
  const running = new Map<string, Promise<void>>();
  const taken = new Set<string>();
  return {
    async take(key) {
      const other = running.get(key);
      if (other !== undefined) return { kind: 'other', where: 'here', over: () => other };
      const wasTaken = taken.has(key);
      taken.add(key);
      let free: () => void = () => undefined;
      running.set(
        key,
        new Promise(resolve => {
          free = resolve;
        }),
      );
      const end = (): void => {
        running.delete(key);
        free();
      };
      const lock = await between.take(key).catch((error: unknown) => {
        end();
        throw error;
      });
      if (lock.kind === 'other') {
        end();
        return lock;
      }
      return { kind: wasTaken ? 'first' : lock.kind, end: () => lock.end().finally(end) };
    },
  };
}

/**
 * Sockets, like the lock of the cache: an action lock ends with the process that holds it. Where no socket can be made, a stage may run twice,
 * with the same result.
 */
function createSharedActionLocks({ shared }: CacheFolder, { signal, emit }: Pick<EnginePorts, 'signal' | 'emit'>): ActionLocks {
  if (shared === undefined) return { take: () => Promise.resolve(alone) };
  let unavailable = false;
  const waitFor = async (folder: string): Promise<void> => {
    try {
      const lock = await acquireLock(folder, { signal, onWaiting: () => undefined });
      await lock.release();
    } catch (error) {
      if (!isTakenAway(error)) throw error;
      // The lock may be requested again.
    }
  };
  return {
    async take(key) {
      if (unavailable) return alone;
      const folder = actionLockFolder(shared, key);
      try {
        const lock = await tryAgain(() => tryLock(folder, signal));
        return lock === undefined
          ? { kind: 'other', where: 'elsewhere', over: () => waitFor(folder) }
          : { kind: 'first', end: () => lock.release() };
      } catch (error) {
        signal.throwIfAborted();
        unavailable = true;
        const message = `${shared.root} cannot be locked (${messageOf(error)}): another checkout may run the same stage at the same time`;
        emit({ kind: 'warning', stage: undefined, code: 'lock-unavailable', message });
        return alone;
      }
    },
  };
}

export function actionLocksFolder({ root }: CacheFolder): string {
  return join(root, 'action-locks');
}

function actionLockFolder(shared: CacheFolder, key: string): string {
  return join(actionLocksFolder(shared), key);
}

const TRIES = 5;

async function tryAgain<T>(work: () => Promise<T>, tries = TRIES): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (tries === 1 || !isTakenAway(error)) throw error;
    return tryAgain(work, tries - 1);
  }
}

/**
 * Whether garbage collection has just removed the folder of a released lock. Making a socket in a removed folder fails as "not permitted".
 */
export function isTakenAway(error: unknown): boolean {
  return isMissing(error) || hasCode(error, 'EACCES');
}

/** Undefined if another process holds the lock. */
export async function tryLock(folder: string, signal: AbortSignal): Promise<Lock | undefined> {
  const held = new AbortController();
  try {
    return await acquireLock(folder, { signal: AbortSignal.any([signal, held.signal]), onWaiting: () => held.abort() });
  } catch (error) {
    signal.throwIfAborted();
    if (held.signal.aborted) return undefined;
    throw error;
  }
}
