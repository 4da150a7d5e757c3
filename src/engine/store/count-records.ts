/** Counts the records of a cache and of its shared cache. */
import { join } from 'node:path';
import { FORBIDDEN, hasCode } from '../../base/system-error.js';
import type { CacheFolder } from './cache-folder.js';
import { filesUnder } from './files/list-files.js';

/** How many actions have a record, intact or not. In the cache of another user, unreadable files count as missing. */
export function countRecords(cache: CacheFolder): number {
  const shared = cache.shared === undefined ? 0 : countRecords(cache.shared);
  try {
    return filesUnder(join(cache.root, 'actions')).length + shared;
  } catch (error) {
    if (hasCode(error, ...FORBIDDEN)) return shared;
    throw error;
  }
}
