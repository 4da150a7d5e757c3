/** The marker of a cache folder, and whether a folder that somebody names may be used as one. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EngineError, isMissing } from '../model/engine-error.js';
import { findForeign, listForeign } from './own-names.js';

export const CACHE_MARKER = '.tanren';

const HEADER = 'tanren-cache 1';
const ABOUT =
  '# Tanren keeps the results of builds in this folder. It removes only files of its own; the folder may be deleted while no build runs.';
/** Of any version: what a newer one has written is a miss, file by file. */
const ANY_HEADER = /^tanren-cache \d+\n/;

/** Makes the folder, with the marker, where they are not there. What cannot be written is left to the first write that matters. */
export function markCacheFolder(root: string): void {
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    if (lstatSync(join(root, CACHE_MARKER), { throwIfNoEntry: false }) !== undefined) return;
    // In a folder that holds somebody's files too, they stay visible to git.
    if (listForeign(root).length === 0) writeNew(join(root, '.gitignore'), '*\n!.gitignore\n');
    writeNew(join(root, CACHE_MARKER), `${HEADER}\n${ABOUT}\n`);
  } catch {
    // Read-only, or no folder: whoever needs it finds that out.
  }
}

function writeNew(path: string, text: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) writeFileSync(path, text, { flag: 'wx' });
}

/** Refuses a folder that is neither a cache nor empty. One that is not there yet, or cannot be looked at, passes. @throws EngineError `not-a-cache`. */
export function assertCacheFolder(root: string): void {
  const names = listNames(root);
  if (names === 'a file') throw notACache(root, 'is not a folder');
  if (names === undefined || isMarked(root) || hasResults(root, names)) return;
  if (findForeign(root).every(path => path === 'lost+found')) return;
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
    return ANY_HEADER.test(readFileSync(join(root, CACHE_MARKER), 'utf8'));
  } catch {
    return false;
  }
}

/** A cache of version 0.1 has no marker: it has folders of blobs and records, and nothing else in them. */
function hasResults(root: string, names: readonly string[]): boolean {
  return ['cas', 'actions'].every(folder => names.includes(folder) && listForeign(root, folder).length === 0);
}

/** Undefined where there is nothing that can be looked at. */
function listNames(root: string): readonly string[] | 'a file' | undefined {
  try {
    return readdirSync(root);
  } catch (error) {
    return isMissing(error) && lstatSync(root, { throwIfNoEntry: false }) !== undefined ? 'a file' : undefined;
  }
}
