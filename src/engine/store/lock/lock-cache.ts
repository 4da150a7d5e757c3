/** Acquires the lock that a build holds on its cache folder. */

import { messageOf } from '../../model/engine-error.js';
import type { Holder } from '../../model/lock-holder.js';
import type { EnginePorts } from '../../model/ports.js';
import { type CacheFolder, makeCacheFolder } from '../cache-folder.js';
import { acquireLock, type Lock } from './lock.js';

/**
 * Creates the folder and waits for its lock. Undefined if the folder cannot be locked, which is a warning, or if the build is cancelled.
 */
export async function lockCache(cache: CacheFolder, ports: EnginePorts): Promise<Lock | undefined> {
  try {
    makeCacheFolder(cache);
    const onWaiting = (holder: Holder | undefined): void => ports.emit({ kind: 'waiting-for-lock', folder: cache.root, holder });
    return await acquireLock(cache.lock, { signal: ports.signal, onWaiting });
  } catch (error) {
    if (ports.signal.aborted) return undefined;
    const message = `${cache.root} cannot be locked (${messageOf(error)}): do not run two builds at the same time`;
    ports.emit({ kind: 'warning', stage: undefined, code: 'lock-unavailable', message });
    return undefined;
  }
}
