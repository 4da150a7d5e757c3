/** Finds the cache folder that this checkout shares with others: the value of --cache, else of TANREN_CACHE. */
import { resolve } from 'node:path';
import { assertCacheFolder } from '../../engine/store/cache-marker.js';

/** The absolute path; undefined if none is named. @throws EngineError `not-a-cache` if the folder holds something else. */
export function findSharedCache(option: string | undefined, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = option ?? environment.TANREN_CACHE;
  if (named === undefined || named === '') return undefined;
  assertCacheFolder(resolve(named));
  return resolve(named);
}
