/** Digests that the lock files of a project pin, so that the cache keeps them. */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { isMissing } from '../../base/system-error.js';
import { hasPipelineEnding } from '../config/pipeline-name.js';
import { digestsIn } from './lock.js';
import { readLockFile } from './lock-file.js';
import { type LockFile, lockFileOf } from './lock-path.js';

/**
 * Reads the lock files of the named pipelines in the project folder, and of all pipelines in pipelines/.
 * @throws LockRefused if one cannot be read, because the pinned digests are unknown then.
 */
export function findPins(projectFolder: string, pipelines: readonly string[], cwd: string): ReadonlySet<Digest> {
  const pins = new Set<Digest>();
  for (const file of findLockFiles(projectFolder, pipelines, cwd)) {
    const read = readLockFile(file);
    if (read !== undefined) for (const digest of digestsIn(read.lock)) pins.add(digest);
  }
  return pins;
}

/** Other tools also write files that end in .lock. A lock file of Tanren has its pipeline file beside it. */
function findLockFiles(projectFolder: string, pipelines: readonly string[], cwd: string): readonly LockFile[] {
  const own = [...new Set(['pipeline', ...pipelines])].flatMap(name => pipelineFiles(join(projectFolder, name)));
  const folder = join(projectFolder, 'pipelines');
  const others = listFolder(folder)
    .filter(hasPipelineEnding)
    .map(name => join(folder, name));
  const files = [...own, ...others].map(file => lockFileOf(relative(cwd, file), cwd));
  return [...new Map(files.map(file => [file.path, file])).values()];
}

function pipelineFiles(stem: string): readonly string[] {
  return ['.yaml', '.yml'].map(ending => `${stem}${ending}`).filter(path => existsSync(path));
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
