/** Which cache folder does a command look after, and how does it end where a signal or a known error stops it? */
import { join, resolve } from 'node:path';
import type { Digest } from '../base/digest.js';
import { pipelineNameOf } from '../engine/config/pipeline-name.js';
import { findProjectFolder } from '../engine/config/project-folder.js';
import { formatDiagnostic } from '../engine/model/diagnostic.js';
import type { EnginePorts } from '../engine/model/ports.js';
import { type CacheFolder, cacheFolderAt } from '../engine/store/cache-folder.js';
import type { Users } from '../engine/store/maintenance/keep-house.js';
import { makeEnginePorts } from './engine-ports.js';
import { abortOnSignals } from './interruption.js';
import type { Console } from './render/console.js';
import { formatWaiting } from './render/format-waiting.js';
import { findSharedCache } from './shared-cache.js';

/** Options of commands that look after one folder. */
export interface CacheChoice {
  readonly file: string;
  readonly cache?: string;
}

/** The folder that is looked after: the shared one where one is named, else the project's own. */
export function cacheOf({ file, cache }: CacheChoice): CacheFolder {
  const own = ownFolder(file);
  return cacheFolderAt(findSharedCache(cache) ?? own);
}

export function usersOf({ cache }: CacheChoice): Users {
  return findSharedCache(cache) === undefined ? 'one checkout' : 'checkouts';
}

/** The project's own folder, with the shared one beside it. */
export function cachesOf({ file, cache }: CacheChoice): CacheFolder {
  return cacheFolderAt(ownFolder(file), findSharedCache(cache));
}

/** What the lock files of the project name: undefined after it was said that one cannot be read. */
export async function findWanted({ file }: CacheChoice, console: Console): Promise<ReadonlySet<Digest> | undefined> {
  const { findPins } = await import('../engine/lockfile/find-pins.js');
  const { LockRefused } = await import('../engine/lockfile/lock-refused.js');
  try {
    return findPins(findProjectFolder(resolve(file)), [pipelineNameOf(file)], process.cwd());
  } catch (error) {
    if (!(error instanceof LockRefused)) throw error;
    for (const diagnostic of error.diagnostics) console.problem(diagnostic.severity, formatDiagnostic(diagnostic, error.sources));
    console.problem('error', 'nothing was removed: it is not known what the lock file names');
    return undefined;
  }
}

function ownFolder(file: string): string {
  return join(findProjectFolder(resolve(file)), 'cache');
}

/** `work` with signals, waits and warnings told; undefined where a signal ended it. */
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
