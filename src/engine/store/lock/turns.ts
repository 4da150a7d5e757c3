/**
 * Turns at running an action: equal actions run one at a time, in one build and across checkouts that share a cache. The others wait for
 * the result.
 */
import { join } from 'node:path';
import { isMissing, messageOf, systemCode } from '../../model/engine-error.js';
import type { EnginePorts } from '../../model/ports.js';
import type { CacheFolder } from '../cache-folder.js';
import { acquireLock, type Lock } from './lock.js';

export type Turn =
  /** 'alone': no other build can want the action. 'first': another build may have run it until now, so look for its result first. */
  | { readonly kind: 'alone' | 'first'; end(): Promise<void> }
  /** `over` resolves when the turn may be requested again. It rejects if the build is cancelled. */
  | { readonly kind: 'other'; readonly where: 'here' | 'elsewhere'; over(): Promise<void> };

export interface Turns {
  take(key: string): Promise<Turn>;
}

const alone: Turn = { kind: 'alone', end: () => Promise.resolve() };

/** Turns within one build and, inside them, turns between the checkouts that share its cache. */
export function createTurns(cache: CacheFolder, ports: Pick<EnginePorts, 'signal' | 'emit'>): Turns {
  const between = createTurnsBetween(cache, ports);
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
      const turn = await between.take(key).catch((error: unknown) => {
        end();
        throw error;
      });
      if (turn.kind === 'other') {
        end();
        return turn;
      }
      return { kind: wasTaken ? 'first' : turn.kind, end: () => turn.end().finally(end) };
    },
  };
}

/**
 * Sockets, like the lock of the cache: a turn ends with the process that holds it. Where no socket can be made, a stage may run twice,
 * with the same result.
 */
function createTurnsBetween({ shared }: CacheFolder, { signal, emit }: Pick<EnginePorts, 'signal' | 'emit'>): Turns {
  if (shared === undefined) return { take: () => Promise.resolve(alone) };
  let unavailable = false;
  const waitFor = async (folder: string): Promise<void> => {
    try {
      const lock = await acquireLock(folder, { signal, onWaiting: () => undefined });
      await lock.release();
    } catch (error) {
      if (!isTakenAway(error)) throw error;
      // The turn may be requested again.
    }
  };
  return {
    async take(key) {
      if (unavailable) return alone;
      const folder = turnFolder(shared, key);
      try {
        const lock = await tryAgain(() => tryLock(folder, signal));
        return lock === undefined
          ? { kind: 'other', where: 'elsewhere', over: () => waitFor(folder) }
          : { kind: 'first', end: () => lock.release() };
      } catch (error) {
        signal.throwIfAborted();
        unavailable = true;
        const message = `${shared.root} cannot be locked (${messageOf(error)}): another checkout may run the same stage meanwhile`;
        emit({ kind: 'warning', stage: undefined, code: 'lock-unavailable', message });
        return alone;
      }
    },
  };
}

export function turnsFolder({ root }: CacheFolder): string {
  return join(root, 'turns');
}

function turnFolder(shared: CacheFolder, key: string): string {
  return join(turnsFolder(shared), key);
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
 * Whether garbage collection has just removed the folder of an ended turn. Making a socket in a removed folder fails as "not permitted".
 */
export function isTakenAway(error: unknown): boolean {
  return isMissing(error) || systemCode(error) === 'EACCES';
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
