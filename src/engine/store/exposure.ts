/**
 * The check that no other user may write to a cache folder.
 * Digests detect damage, but records are trusted: anyone who can write them controls what a build returns.
 */
import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type { CacheFolder } from './cache-folder.js';

const ANYBODY_WRITES = 0o002;

/** What is wrong with the write permissions of the folder; undefined if nothing is wrong, or if the permissions cannot be read. */
export function findExposure(cache: CacheFolder, owner: 'mine' | 'anybody'): string | undefined {
  const me = process.getuid?.();
  if (me === undefined) return undefined;
  for (const folder of [cache.root, ...['cas', 'actions', 'state'].map(name => join(cache.root, name))]) {
    const stats = findStats(folder);
    if (stats === undefined) continue;
    if ((stats.mode & ANYBODY_WRITES) !== 0) return `anyone may write to ${folder} and so change the results of builds: run chmod o-w`;
    if (owner === 'mine' && stats.uid !== me)
      return `${folder} belongs to another user (${stats.uid}), who can change the results of builds`;
  }
  return undefined;
}

/** The permissions and owner of a path; undefined if it cannot be read. The first write then reports the problem. */
function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
