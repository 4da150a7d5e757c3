/** Removes what builds have made, and nothing else. Holds the lock, so that no running build loses its files. */
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { artifactFolder, artifactName } from '../../model/artifact-path.js';
import { selectStages } from '../../model/dependencies.js';
import type { Plan, PlannedStage, StageId } from '../../model/plan.js';
import type { EnginePorts } from '../../model/ports.js';
import { cacheFolderAt } from '../cache-folder.js';
import { withOpenFolders } from '../files/open-folders.js';
import { findForeign, removeOwn } from '../own-names.js';
import { openPublishedNames } from '../published-names.js';
import { remove } from '../stage-folder.js';
import { loadState } from '../state-log.js';
import { withLock } from './maintain-cache.js';

export interface CleanOptions {
  /** Stages whose artifacts are removed, without their dependencies. */
  readonly targets: 'all' | readonly StageId[];
  /** 'artifacts': the next build restores them. 'everything': the cache is removed too, and the next build runs every stage. */
  readonly what: 'artifacts' | 'everything';
  readonly cacheFolder?: string;
}

export interface Cleaned {
  /** Folders, relative to the project. */
  readonly removed: readonly string[];
  /** Paths of files that no build wrote, relative to the project. They are kept. */
  readonly left: readonly string[];
}

/** Removes artifacts and, with 'everything', the content of the cache. */
export async function clean(plan: Plan, options: CleanOptions, ports: Pick<EnginePorts, 'emit' | 'signal'>): Promise<Cleaned> {
  const cache = cacheFolderAt(options.cacheFolder ?? join(plan.projectFolder, 'cache'));
  return withLock(cache, ports, async () => {
    const { removed, left } = await cleanArtifacts(plan, options, loadState(cache.state(plan.pipeline)).state.stages);
    if (options.what === 'artifacts' || !existsSync(cache.root)) return { removed, left };
    await removeOwn(cache.root, '', KEPT);
    return { removed: [...removed, 'cache'], left: [...left, ...findForeign(cache.root).map(path => `cache/${path}`)] };
  });
}

/** The lock is held, and the folder remains a cache. */
const KEPT = ['lock', '.gitignore', '.tanren'];

async function cleanArtifacts(
  plan: Plan,
  { targets }: CleanOptions,
  accepted: ReadonlyMap<string, { readonly outputs: object }>,
): Promise<Cleaned> {
  const published = openPublishedNames(join(plan.projectFolder, 'artifacts'));
  const wanted = targets === 'all' ? undefined : new Set<StageId>(targets);
  const removed: string[] = [];
  const left: string[] = [];
  for (const stage of selectStages(plan, targets)) {
    const folder = artifactFolder(plan, stage);
    const path = join(plan.projectFolder, folder);
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (wanted?.has(stage.id) === false || stats === undefined) continue;
    if (!stats.isDirectory()) {
      left.push(folder);
      continue;
    }
    const inMarker = folder.slice('artifacts/'.length);
    const known = published.isEmptied(inMarker) ? [] : namesOf(stage, accepted.get(stage.id)?.outputs ?? {});
    const own = new Set([...published.in(inMarker), ...known]);
    const { count, foreign } = await removeNames(path, own);
    published.empty(inMarker);
    if (count > 0 || foreign.length === 0) removed.push(folder);
    left.push(...foreign.map(name => `${folder}/${name}`));
  }
  published.save();
  return { removed, left };
}

function namesOf(stage: PlannedStage, outputs: object): readonly string[] {
  return Object.keys(outputs).flatMap(port => (Object.hasOwn(stage.outputPorts, port) ? [artifactName(stage, port)] : []));
}

/**
 * Removes the given names from the folder, and the folder itself if nothing else is in it.
 * @returns the number of removed names, and the other names.
 */
async function removeNames(
  folder: string,
  own: ReadonlySet<string>,
): Promise<{ readonly count: number; readonly foreign: readonly string[] }> {
  const names = await withOpenFolders(folder, () => readdirSync(folder));
  const foreign = names.filter(name => !own.has(name));
  if (foreign.length === 0) await remove(folder);
  else for (const name of names) if (own.has(name)) await remove(join(folder, name));
  return { count: names.length - foreign.length, foreign };
}
