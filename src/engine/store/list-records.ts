/** The records of a cache, and of the one that it shares: all that check and may be read, one by one. */
import { join } from 'node:path';
import { type ActionRecord, readRecord } from './action-records.js';
import type { CacheFolder } from './cache-folder.js';
import { filesUnder } from './files/list-files.js';
import { isForbidden } from './files/open-folders.js';

export function* listRecords(cache: CacheFolder): Generator<ActionRecord> {
  for (const { name } of readableUnder(join(cache.root, 'actions'))) {
    const record = readRecord(cache, name.replace(/\.json$/, ''));
    if (record !== undefined && record !== 'damaged') yield record;
  }
  if (cache.shared !== undefined) yield* listRecords(cache.shared);
}

/** In a cache of another user, what may not be read is as good as not there. */
function readableUnder(folder: string): ReturnType<typeof filesUnder> {
  try {
    return filesUnder(folder);
  } catch (error) {
    if (isForbidden(error)) return [];
    throw error;
  }
}
