/** Which cache does this checkout share with others? The one that --cache names, or else the environment. */
import { resolve } from 'node:path';
import { assertCacheFolder } from '../engine/store/cache-marker.js';

/** Absolute; undefined where none is named. @throws EngineError `not-a-cache` where the folder holds something else. */
export function findSharedCache(option: string | undefined, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = option ?? environment.TANREN_CACHE;
  if (named === undefined || named === '') return undefined;
  assertCacheFolder(resolve(named));
  return resolve(named);
}
