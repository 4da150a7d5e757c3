/** Selects the cache folder of a command, and ends the command on a signal. */
import { join, resolve } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { pipelineNameOf } from '../../engine/config/pipeline-name.js';
import { findProjectFolder } from '../../engine/config/project-folder.js';
import { formatDiagnostic } from '../../engine/model/diagnostic.js';
import type { EnginePorts } from '../../engine/model/ports.js';
import { type CacheFolder, cacheFolderAt } from '../../engine/store/cache-folder.js';
import type { Users } from '../../engine/store/maintenance/maintain-cache.js';
import { abortOnSignals } from '../process/interruption.js';
import type { Console } from '../terminal/console.js';
import { makeEnginePorts } from './engine-ports.js';
import { formatWaiting } from './format-waiting.js';
import { findSharedCache } from './shared-cache.js';

/** Options of commands that work on one cache folder. */
export interface CacheChoice {
  readonly file: string;
  readonly cache?: string;
}

/** The shared cache folder if one is named; else the project's own. */
export function cacheOf({ file, cache }: CacheChoice): CacheFolder {
  const own = ownFolder(file);
  return cacheFolderAt(findSharedCache(cache) ?? own);
}

export function usersOf({ cache }: CacheChoice): Users {
  return findSharedCache(cache) === undefined ? 'one checkout' : 'checkouts';
}

/** The project's own cache folder, together with the shared one if one is named. */
export function cachesOf({ file, cache }: CacheChoice): CacheFolder {
  return cacheFolderAt(ownFolder(file), findSharedCache(cache));
}

/** The digests that the project's lock files name; undefined after an error is reported if a lock file cannot be read. */
export async function findWanted({ file }: CacheChoice, console: Console): Promise<ReadonlySet<Digest> | undefined> {
  const { findPins } = await import('../../engine/lockfile/find-pins.js');
  const { LockRefused } = await import('../../engine/lockfile/lock-refused.js');
  try {
    return findPins(findProjectFolder(resolve(file)), [pipelineNameOf(file)], process.cwd());
  } catch (error) {
    if (!(error instanceof LockRefused)) throw error;
    for (const diagnostic of error.diagnostics) console.problem(diagnostic.severity, formatDiagnostic(diagnostic, error.sources));
    console.problem('error', 'nothing was removed: the lock file cannot be read');
    return undefined;
  }
}

function ownFolder(file: string): string {
  return join(findProjectFolder(resolve(file)), 'cache');
}

/** Runs `work` with handling of signals, and prints waits and warnings. @returns undefined if a signal ended the work. */
export async function interruptible<T>(console: Console, work: (ports: EnginePorts) => Promise<T>): Promise<T | undefined> {
  const signal = abortOnSignals();
  const ports = makeEnginePorts(event => {
    if (event.kind === 'waiting-for-lock') console.line(formatWaiting(event, Date.now()));
    if (event.kind === 'warning') console.problem('warning', `warning[${event.code}]: ${event.message}`);
  }, signal);
  return work(ports).catch((error: unknown) => {
    if (signal.aborted) return undefined;
    throw error;
  });
}
