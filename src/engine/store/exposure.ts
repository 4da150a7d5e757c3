/** May somebody else change what a cache folder holds? Digests show damage, and records are trusted: who can write them can say what a build gives. */
import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type { CacheFolder } from './cache-folder.js';

const ANYBODY_WRITES = 0o002;

/** What is wrong with who may write to the folder; undefined where nothing is, or where it cannot be seen. */
export function findExposure(cache: CacheFolder, owner: 'mine' | 'anybody'): string | undefined {
  const me = process.getuid?.();
  if (me === undefined) return undefined;
  for (const folder of [cache.root, ...['cas', 'actions', 'state'].map(name => join(cache.root, name))]) {
    const stats = findStats(folder);
    if (stats === undefined) continue;
    if ((stats.mode & ANYBODY_WRITES) !== 0) return `anybody may write to ${folder}, and so decide what builds give: chmod o-w`;
    if (owner === 'mine' && stats.uid !== me) return `${folder} belongs to another user (${stats.uid}), who decides what builds give`;
  }
  return undefined;
}

/** What cannot be looked at is written to, or is not, by others' rules: the first write says so. */
function findStats(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
