/** What builds that were killed have left. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../model/engine-error.js';
import type { EnginePorts } from '../model/ports.js';
import type { CacheFolder } from './cache-folder.js';
import { withOpenFolders } from './files/open-folders.js';
import { removeStaging } from './publish.js';

/** Removes what builds that were killed have left. Only under the lock. */
export async function removeLeftovers(folder: string): Promise<void> {
  await withOpenFolders(folder, () => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** As `removeLeftovers`, of the cache and of artifacts/ together. A failure is a warning. Only under the lock. */
export async function removeAllLeftovers(projectFolder: string, cache: CacheFolder, { emit }: Pick<EnginePorts, 'emit'>): Promise<void> {
  try {
    await removeLeftovers(cache.temporary);
    await removeStaging(join(projectFolder, 'artifacts'));
  } catch (error) {
    const message = `what an earlier build has left cannot be removed: ${messageOf(error)}`;
    emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message });
  }
}
