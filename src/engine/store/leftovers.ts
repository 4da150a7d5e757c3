/** Removes the remains of killed builds, and reports files beside them that no build wrote. */
import { mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { listSome } from '../../base/text/list-some.js';
import { messageOf } from '../model/engine-error.js';
import type { EnginePorts } from '../model/ports.js';
import type { CacheFolder } from './cache-folder.js';
import { listForeign, removeOwn } from './own-names.js';
import { removeStaging } from './stage-folder.js';

/** Removes what killed builds left in the cache. Call only while holding the lock. */
export async function removeTemporary(cache: CacheFolder): Promise<void> {
  await removeOwn(cache.root, relative(cache.root, cache.temporary));
  mkdirSync(cache.temporary, { recursive: true, mode: 0o700 });
}

/**
 * Like `removeTemporary`, for both the cache and artifacts/. A failure is a warning. Call only while holding the lock.
 * @returns the paths of files that no build wrote; they are kept.
 */
export async function removeAllLeftovers(
  projectFolder: string,
  cache: CacheFolder,
  { emit }: Pick<EnginePorts, 'emit'>,
): Promise<readonly string[]> {
  try {
    await removeTemporary(cache);
    const staged = await removeStaging(join(projectFolder, 'artifacts'));
    const cached = ['', relative(cache.root, cache.temporary)].flatMap(under => listForeign(cache.root, under));
    return [...cached.map(path => join(cache.root, path)), ...staged].map(path => relative(projectFolder, path));
  } catch (error) {
    const message = `files that an earlier build left cannot be removed: ${messageOf(error)}`;
    emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message });
    return [];
  }
}

/** Warns about files that no build wrote. */
export function warnOfForeignPaths(paths: readonly string[], { emit }: Pick<EnginePorts, 'emit'>): void {
  if (paths.length === 0) return;
  emit({ kind: 'warning', stage: undefined, code: 'foreign-files', message: `no build wrote ${listSome(paths)}: it stays` });
}
