/** Replaces the content of a stage's folder: the whole folder by rename, or its outputs one by one beside foreign files. */
import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FORBIDDEN, hasCode } from '../../base/system-error.js';
import { EngineError } from '../model/engine-error.js';
import { openFolder, openFolders, withOpenFolders } from './files/open-folders.js';
import { uniqueName } from './files/unique-name.js';

/**
 * In artifacts/: folders with new content (16 hexadecimal digits) and with old content (the same with `.old`). All content is temporary.
 */
export const STAGING = '.staging';

const STAGED = /^[0-9a-f]{16}(\.old)?$/;

/**
 * Names in the folder of a stage; none if the folder is missing.
 * @throws EngineError `output-blocked` if the path, or a path above it in artifacts/, is not a folder.
 */
export function listStanding(artifactsRoot: string, folder: string): readonly string[] {
  const path = join(artifactsRoot, folder);
  const stats = lstatUnder(artifactsRoot, path);
  if (stats === undefined) return [];
  if (!stats.isDirectory()) throw blocked(path);
  try {
    return readdirSync(path);
  } catch (error) {
    if (!hasCode(error, ...FORBIDDEN)) throw error;
    openFolder(path);
    return readdirSync(path);
  }
}

function lstatUnder(artifactsRoot: string, path: string): ReturnType<typeof lstatSync> | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (hasCode(error, 'ENOTDIR') && dirname(path) !== artifactsRoot) throw blocked(dirname(path));
    throw error;
  }
}

function blocked(path: string, what = 'a folder of outputs, and no build published it'): EngineError {
  return new EngineError('output-blocked', `${path} is in the place of ${what}`, {
    details: { path },
    help: 'move or delete it, and build again: the result is in the cache',
  });
}

/** Replaces `folder` with `staging`. Names that appeared in `folder` since it was listed, and are not in `own`, are moved over. */
export async function replaceFolder(staging: string, folder: string, own: ReadonlySet<string>): Promise<void> {
  const old = `${staging}.old`;
  const stood = await withOpenFolders(folder, () => tryRename(folder, old));
  if (!tryRename(staging, folder)) {
    mkdirSync(dirname(folder), { recursive: true });
    renameSync(staging, folder);
  }
  if (!stood) return;
  for (const entry of readdirSync(old, { withFileTypes: true })) {
    const path = join(old, entry.name);
    if (!own.has(entry.name)) renameSync(path, join(folder, entry.name));
    else if (entry.isDirectory()) await remove(path);
    else unlinkSync(path);
  }
  rmdirSync(old);
}

/**
 * Moves the content of `staging` into `folder` and removes old outputs there. Nothing else in the folder is touched.
 * Each output appears complete, but readers may see a mixture of old and new outputs. A killed build leaves outputs that differ from its
 * state, so the next build publishes again. `onPlaced` is called as soon as all new outputs are in place.
 */
export async function replaceNames(
  staging: string,
  folder: string,
  { wanted, old, onPlaced }: { readonly wanted: readonly string[]; readonly old: readonly string[]; readonly onPlaced: () => void },
): Promise<void> {
  const replaced = `${staging}.old`;
  mkdirSync(replaced);
  openFolder(folder);
  for (const name of old) {
    const isReplaced = wanted.includes(name) && isFile(join(staging, name)) && isFile(join(folder, name));
    if (!isReplaced) moveOut(join(folder, name), join(replaced, name));
  }
  for (const name of wanted) renameSync(join(staging, name), join(folder, name));
  onPlaced();
  await remove(staging);
  await remove(replaced);
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** A folder without write permission cannot be moved to another folder. */
function moveOut(from: string, to: string): void {
  try {
    tryRename(from, to);
  } catch (error) {
    if (!hasCode(error, ...FORBIDDEN)) throw error;
    openFolders(from);
    tryRename(from, to);
  }
}

/** @returns false if the source, or the folder of the target, does not exist. */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return false;
  }
}

export async function remove(path: string): Promise<void> {
  await withOpenFolders(path, () => rm(path, { recursive: true, force: true }));
}

/**
 * Creates the staging folder if it is missing.
 * @returns a new path in it.
 * @throws EngineError `output-blocked` if something else has that path: files behind a link are foreign.
 */
export function newStaging(artifactsRoot: string): string {
  const folder = join(artifactsRoot, STAGING);
  try {
    // Not recursive: on a read-only file system a recursive mkdir reports a missing folder.
    mkdirSync(folder);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    if (!isFolder(folder)) throw blocked(folder, 'the folder where outputs are prepared, and is not a folder');
  }
  return join(folder, uniqueName(16));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Removes what killed builds left. Call only while holding the lock. @returns the paths of other files there; they are kept. */
export async function removeStaging(artifactsRoot: string): Promise<readonly string[]> {
  const folder = join(artifactsRoot, STAGING);
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  if (!isFolder(folder)) return [folder];
  const names = readdirSync(folder);
  for (const name of names.filter(one => STAGED.test(one))) await remove(join(folder, name));
  const foreign = names.filter(one => !STAGED.test(one));
  if (foreign.length === 0) rmdirSync(folder);
  return foreign.map(name => join(folder, name));
}
