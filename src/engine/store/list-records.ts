/** Lists the records of a cache and of its shared cache one by one: all that are intact and readable. */
import { join } from 'node:path';
import { FORBIDDEN, hasCode } from '../../base/system-error.js';
import { type ActionRecord, readRecord } from './action-records.js';
import type { CacheFolder } from './cache-folder.js';
import { filesUnder } from './files/list-files.js';

export function* listRecords(cache: CacheFolder): Generator<ActionRecord> {
  for (const { name } of readableUnder(join(cache.root, 'actions'))) {
    const record = readRecord(cache, name.replace(/\.json$/, ''));
    if (record !== undefined && record !== 'damaged') yield record;
  }
  if (cache.shared !== undefined) yield* listRecords(cache.shared);
}

/** How many actions have a record, intact or not. */
export function countRecords(cache: CacheFolder): number {
  return readableUnder(join(cache.root, 'actions')).length + (cache.shared === undefined ? 0 : countRecords(cache.shared));
}

/** In the cache of another user, unreadable files count as missing. */
function readableUnder(folder: string): ReturnType<typeof filesUnder> {
  try {
    return filesUnder(folder);
  } catch (error) {
    if (hasCode(error, ...FORBIDDEN)) return [];
    throw error;
  }
}
