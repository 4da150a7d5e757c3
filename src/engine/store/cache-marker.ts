/** The marker of a cache folder, and the check that a folder may be used as a cache. */
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMissing } from '../../base/system-error.js';
import { EngineError } from '../model/engine-error.js';
import { readRegularText } from './files/read-regular.js';
import { findForeign, listForeign } from './own-names.js';

export const CACHE_MARKER = '.tanren';

const HEADER = 'tanren-cache 1';
const ABOUT =
  '# Tanren keeps the results of builds in this folder. It removes only files of its own; the folder may be deleted while no build runs.';
/** Matches every version. Entries written by a newer version are misses, file by file. */
const ANY_HEADER = /^tanren-cache \d+\n/;

/** Creates the folder and its marker if they are missing. Errors are ignored here: the first write that matters reports them. */
export function markCacheFolder(root: string): void {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    if (lstatSync(join(root, CACHE_MARKER), { throwIfNoEntry: false }) !== undefined) return;
    writeFileSync(join(root, CACHE_MARKER), `${HEADER}\n${ABOUT}\n`, { flag: 'wx', mode: 0o600 });
  } catch {
    // The folder is read-only, or the path is not a folder: the first caller that needs the folder reports that.
  }
}

/** Keeps the content of the folder out of git, unless the folder also holds foreign files. */
export function ignoreInGit(root: string): void {
  try {
    if (listForeign(root).length === 0) writeFileSync(join(root, '.gitignore'), '*\n!.gitignore\n', { flag: 'wx' });
  } catch {
    // The file exists already, or the folder is read-only. The first write that matters reports the latter.
  }
}

/**
 * Refuses a folder that is neither a cache nor empty. A folder that does not exist yet or cannot be read is accepted.
 * @throws EngineError `not-a-cache`.
 */
export function assertCacheFolder(root: string): void {
  const names = listNames(root);
  if (names === 'a file') throw notACache(root, 'is not a folder');
  if (names === undefined || isMarked(root) || hasResults(root, names)) return;
  if (findForeign(root).length === 0) return;
  throw notACache(root, 'holds other files, and is not a cache of Tanren');
}

function notACache(root: string, why: string): EngineError {
  return new EngineError('not-a-cache', `${root} ${why}: nothing was written there`, {
    details: { path: root },
    help: 'name an empty folder, one that does not exist yet, or a cache',
  });
}

function isMarked(root: string): boolean {
  try {
    return ANY_HEADER.test(readRegularText(join(root, CACHE_MARKER)));
  } catch {
    return false;
  }
}

/** A cache of version 0.1 has no marker: it has folders of blobs and records that hold nothing else. */
function hasResults(root: string, names: readonly string[]): boolean {
  return ['cas', 'actions'].every(folder => names.includes(folder) && listForeign(root, folder).length === 0);
}

/** Undefined if nothing there can be read. */
function listNames(root: string): readonly string[] | 'a file' | undefined {
  try {
    return readdirSync(root);
  } catch (error) {
    return isMissing(error) && lstatSync(root, { throwIfNoEntry: false }) !== undefined ? 'a file' : undefined;
  }
}
