/** Which cache does this checkout share with others? The one that --cache names, or else the environment. */
import { resolve } from 'node:path';

/** Absolute; undefined where none is named. */
export function findSharedCache(option: string | undefined, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = option ?? environment.TANREN_CACHE;
  return named === undefined || named === '' ? undefined : resolve(named);
}
