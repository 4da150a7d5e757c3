/** How is what builds have made removed? Under the lock, so that no running build loses its ground. */
import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { artifactFolder } from '../../model/artifact-path.js';
import { selectStages } from '../../model/dependencies.js';
import type { Holder } from '../../model/lock-holder.js';
import type { Plan, StageId } from '../../model/plan.js';
import type { EnginePorts } from '../../model/ports.js';
import { cacheFolderAt } from '../cache-folder.js';
import { acquireLock } from '../lock/lock.js';

export interface CleanOptions {
  /** Whose artifacts go: of these stages alone, not of what they depend on. */
  readonly targets: 'all' | readonly StageId[];
  /** 'artifacts': the next build restores them. 'everything': the cache too, and the next build runs every stage. */
  readonly what: 'artifacts' | 'everything';
  readonly cacheFolder?: string;
}

/** Removes artifacts, and with 'everything' what the cache holds. @returns the removed folders, relative to the project. */
export async function clean(plan: Plan, options: CleanOptions, ports: Pick<EnginePorts, 'emit' | 'signal'>): Promise<readonly string[]> {
  const cache = cacheFolderAt(options.cacheFolder ?? join(plan.projectFolder, 'cache'));
  const onWaiting = (holder: Holder | undefined): void => ports.emit({ kind: 'waiting-for-lock', folder: cache.root, holder });
  const lock = existsSync(cache.root) ? await acquireLock(cache.lock, { signal: ports.signal, onWaiting }) : undefined;
  try {
    const wanted = options.targets === 'all' ? undefined : new Set(options.targets);
    const removed: string[] = [];
    for (const stage of selectStages(plan, options.targets)) {
      const folder = artifactFolder(plan, stage);
      if (wanted?.has(stage.id) === false || !existsSync(join(plan.projectFolder, folder))) continue;
      await rm(join(plan.projectFolder, folder), { recursive: true, force: true });
      removed.push(folder);
    }
    if (options.what === 'everything') removed.push(...(await emptyCache(cache.root)));
    return removed;
  } finally {
    await lock?.release();
  }
}

/** The lock stays: it is held. */
async function emptyCache(root: string): Promise<readonly string[]> {
  if (!existsSync(root)) return [];
  for (const name of readdirSync(root))
    if (name !== 'lock' && name !== '.gitignore') await rm(join(root, name), { recursive: true, force: true });
  return ['cache'];
}
