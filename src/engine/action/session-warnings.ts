/** Warnings about the state and the cache that a build opens. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { nameUser } from '../../base/files/file-owner.js';
import { messageOf } from '../model/engine-error.js';
import { findExposure } from '../store/exposure.js';
import type { Session } from './session.js';

/** Warns of damaged lines in the state, of a folder in its place, of cache folders that other users may write to, and of a build by root in another user's project. */
export function warnOfOpenedCache({ loaded, ports, cache, plan }: Session): void {
  if (loaded.damagedLines > 0) {
    const message = `${loaded.damagedLines} of ${loaded.lines} lines of ${cache.state(plan.pipeline)} are damaged or of another version, and are ignored`;
    ports.emit({ kind: 'warning', stage: undefined, code: 'state-damaged', message });
  }
  if (loaded.end === 'blocked') {
    const path = cache.state(plan.pipeline);
    const message = `${path} is a folder with files that no build wrote, in the place of the state: every build restores results until it is moved away`;
    ports.emit({ kind: 'warning', stage: undefined, code: 'state-blocked', message });
  }
  const owner = findOwnerUnderRoot(plan.projectFolder);
  if (owner !== undefined) {
    const message = `this build runs as root in a folder of ${nameUser(owner)}: its files will belong to root, and builds by the owner cannot replace them`;
    ports.emit({ kind: 'warning', stage: undefined, code: 'root-build', message });
  }
  const shared = cache.shared === undefined ? undefined : findExposure(cache.shared, 'anybody');
  for (const message of [findExposure(cache, 'mine'), shared])
    if (message !== undefined) ports.emit({ kind: 'warning', stage: undefined, code: 'cache-exposed', message });
}

/** Names the first cache folder that is not readable, so that an incomplete answer is not mistaken for a complete one. */
export function warnOfUnreadableCache({ cache, ports }: Pick<Session, 'cache' | 'ports'>): void {
  for (const folder of [cache.root, ...['state', 'actions', 'cas'].map(name => join(cache.root, name))]) {
    try {
      if (existsSync(folder)) accessSync(folder, constants.R_OK | constants.X_OK);
    } catch (error) {
      const message = `the contents of the cache cannot be determined: ${messageOf(error)}`;
      ports.emit({ kind: 'warning', stage: undefined, code: 'cache-unreadable', message });
      return;
    }
  }
}

/** Returns the owner of the project folder if root builds in another user's folder. */
function findOwnerUnderRoot(folder: string): number | undefined {
  if (process.geteuid?.() !== 0) return undefined;
  const { uid } = statSync(folder);
  return uid === 0 ? undefined : uid;
}

/** Writes the state that is still in memory. A failed write is a warning: the next build checks more than necessary. */
export function flushState({ writer, ports }: Session): void {
  try {
    writer?.flush();
  } catch (error) {
    ports.emit({
      kind: 'warning',
      stage: undefined,
      code: 'cache-write-failed',
      message: `the state cannot be written: ${messageOf(error)}`,
    });
  }
}
