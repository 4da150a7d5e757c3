/** Removes the artifacts, the state and the history of a sweep that has ended. Its results stay in the cache. */
import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../model/engine-error.js';
import type { Plan } from '../model/plan.js';
import type { EnginePorts } from '../model/ports.js';
import type { CacheFolder } from '../store/cache-folder.js';
import { withLock } from '../store/maintenance/maintain-cache.js';
import { openPublishedNames } from '../store/published-names.js';
import { remove, removeStaging } from '../store/stage-folder.js';

/**
 * Removes what builds have published for the sweep, also for an earlier one that was interrupted; other files there stay.
 * A failure is a warning, because the results are there.
 */
export async function removeSweep(
  { pipeline, projectFolder }: Pick<Plan, 'pipeline' | 'projectFolder'>,
  cache: CacheFolder,
  ports: Pick<EnginePorts, 'emit' | 'signal'>,
): Promise<void> {
  const artifacts = join(projectFolder, 'artifacts');
  await orWarn(ports, () =>
    withLock(cache, ports, async lock => {
      await removeAll(pipeline, artifacts, cache);
      if (lock !== undefined) await removeStaging(artifacts);
    }),
  );
}

/** Removes what a sweep or subset of this name has left. Call only while holding the lock. */
export async function removeLeftSweep(
  name: string,
  projectFolder: string,
  cache: CacheFolder,
  ports: Pick<EnginePorts, 'emit'>,
): Promise<void> {
  await orWarn(ports, () => removeAll(name, join(projectFolder, 'artifacts'), cache));
}

async function orWarn({ emit }: Pick<EnginePorts, 'emit'>, remove: () => Promise<void>): Promise<void> {
  try {
    await remove();
  } catch (error) {
    const message = `the artifacts of the sweep cannot be removed: ${messageOf(error)}`;
    emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message });
  }
}

async function removeAll(name: string, artifacts: string, cache: CacheFolder): Promise<void> {
  const published = openPublishedNames(artifacts);
  for (const stage of foldersIn(join(artifacts, name))) {
    const folder = `${name}/${stage}`;
    for (const file of published.in(folder)) await remove(join(artifacts, folder, file));
    published.settle(folder, []);
    removeEmpty(join(artifacts, folder));
  }
  removeEmpty(join(artifacts, name));
  published.save();
  rmSync(cache.state(name), { force: true });
  rmSync(cache.history(name), { force: true });
}

function foldersIn(folder: string): readonly string[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => (entry.isDirectory() ? [entry.name] : []));
}

function removeEmpty(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true && readdirSync(folder).length === 0) rmdirSync(folder);
}
