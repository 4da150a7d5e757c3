/** Which records are in a cache, and in the one that it shares? All that check, read one by one. */
import { join } from 'node:path';
import { type ActionRecord, openActionRecords } from './action-records.js';
import type { CacheFolder } from './cache-folder.js';
import { filesUnder } from './files/list-files.js';

export function* listRecords(cache: CacheFolder): Generator<ActionRecord> {
  const records = openActionRecords(cache);
  for (const { name } of filesUnder(join(cache.root, 'actions'))) {
    const record = records.find(name.replace(/\.json$/, ''));
    if (record !== undefined && record !== 'damaged') yield record;
  }
  if (cache.shared !== undefined) yield* listRecords(cache.shared);
}
