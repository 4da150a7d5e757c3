/** Warnings about the state and the cache that a build opens. */
import { messageOf } from '../model/engine-error.js';
import { findExposure } from '../store/exposure.js';
import type { Session } from './session.js';

/** Damaged lines of the state, and folders of the cache that other users may write to. */
export function warnOfOpenedCache({ loaded, ports, cache, plan }: Session): void {
  if (loaded.damagedLines > 0) {
    const message = `${loaded.damagedLines} of ${loaded.lines} lines of ${cache.state(plan.pipeline)} are damaged or of another version, and left out`;
    ports.emit({ kind: 'warning', stage: undefined, code: 'state-damaged', message });
  }
  const shared = cache.shared === undefined ? undefined : findExposure(cache.shared, 'anybody');
  for (const message of [findExposure(cache, 'mine'), shared])
    if (message !== undefined) ports.emit({ kind: 'warning', stage: undefined, code: 'cache-exposed', message });
}

/** Writes the state that is still in memory. A failed write is a warning: the next build looks at more than it needs to. */
export function flushState({ writer, ports }: Session): void {
  try {
    writer?.flush();
  } catch (error) {
    ports.emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message: `the state is not written: ${messageOf(error)}` });
  }
}
