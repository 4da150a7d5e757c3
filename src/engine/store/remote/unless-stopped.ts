/** A remote cache whose answers nothing waits for after a build was stopped. */
import { unlessAborted } from '../../../base/on-abort.js';
import type { RemoteResults } from './remote-results.js';

/**
 * After the abort of the signal nothing is found, also by calls that are under way: these end with the connection, which its owner closes.
 * Uploads are left as they are.
 */
export function unlessStopped(results: RemoteResults, signal: AbortSignal): RemoteResults {
  const orWithout = async <T>(ask: () => Promise<T>, without: T): Promise<T> => {
    if (signal.aborted) return without;
    const end = await unlessAborted(ask(), signal);
    return end === 'aborted' ? without : end;
  };
  return {
    ...results,
    bring: (stage, key, what) => orWithout(() => results.bring(stage, key, what), undefined),
    bringLeft: (stage, key) => orWithout(() => results.bringLeft(stage, key), undefined),
    bringPart: (stage, plugin, key) => orWithout(() => results.bringPart(stage, plugin, key), false),
    bringParts: (stage, plugin, wanted) => orWithout(() => results.bringParts(stage, plugin, wanted), 0),
  };
}
