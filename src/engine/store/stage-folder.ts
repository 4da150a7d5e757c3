/** How the new content of a stage's folder replaces the old: the whole folder by rename, or its outputs one by one beside files that are not Tanren's. */
import { lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EngineError, systemCode } from '../model/engine-error.js';
import { isForbidden, openFolder, openFolders, withOpenFolders } from './files/open-folders.js';
import { uniqueName } from './files/unique-name.js';

/** In artifacts/: folders with new content (16 hexadecimal digits) and with old content (`.old` after them). Never anybody's to keep. */
export const STAGING = '.staging';

const STAGED = /^[0-9a-f]{16}(\.old)?$/;

/**
 * Names in a stage's folder; none where it is not there.
 * @throws EngineError `output-blocked` where it, or a folder above it in artifacts/, is no folder.
 */
export function listStanding(artifactsRoot: string, folder: string): readonly string[] {
  const path = join(artifactsRoot, folder);
  const stats = lstatUnder(artifactsRoot, path);
  if (stats === undefined) return [];
  if (!stats.isDirectory()) throw blocked(path);
  try {
    return readdirSync(path);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    openFolder(path);
    return readdirSync(path);
  }
}

function lstatUnder(artifactsRoot: string, path: string): ReturnType<typeof lstatSync> | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (systemCode(error) === 'ENOTDIR' && dirname(path) !== artifactsRoot) throw blocked(dirname(path));
    throw error;
  }
}

function blocked(path: string, what = 'a folder of outputs belongs, and no build has published it'): EngineError {
  return new EngineError('output-blocked', `${path} stands where ${what}`, {
    details: { path },
    help: 'move or delete it, and build again: the result is in the cache',
  });
}

/** Puts `staging` in the place of `folder`. What has come there since it was listed, and is not among `own`, is moved over. */
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
 * Puts what is in `staging` into `folder`, and takes away what stood there of old outputs. Nothing else in the folder is touched.
 * Each output appears as a whole, and readers may see some old and some new ones. A build that is killed meanwhile leaves
 * outputs that are not what its state says, so the next one publishes again. `onPlaced` is called as soon as all of them stand there.
 */
export async function replaceNames(
  staging: string,
  folder: string,
  { wanted, old, onPlaced }: { readonly wanted: readonly string[]; readonly old: readonly string[]; readonly onPlaced: () => void },
): Promise<void> {
  const aside = `${staging}.old`;
  mkdirSync(aside);
  openFolder(folder);
  for (const name of old) {
    const isReplaced = wanted.includes(name) && isFile(join(staging, name)) && isFile(join(folder, name));
    if (!isReplaced) moveOut(join(folder, name), join(aside, name));
  }
  for (const name of wanted) renameSync(join(staging, name), join(folder, name));
  onPlaced();
  await remove(staging);
  await remove(aside);
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** A folder that may not be written to cannot be moved to another one. */
function moveOut(from: string, to: string): void {
  try {
    tryRename(from, to);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    openFolders(from);
    tryRename(from, to);
  }
}

/** @returns whether there was something to rename, and a folder to rename it into. */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return false;
  }
}

export async function remove(path: string): Promise<void> {
  await withOpenFolders(path, () => rm(path, { recursive: true, force: true }));
}

/**
 * Makes the folder of what is not complete yet. @returns a new path in it.
 * @throws EngineError `output-blocked` where something else stands there: files behind a link are foreign.
 */
export function newStaging(artifactsRoot: string): string {
  const folder = join(artifactsRoot, STAGING);
  try {
    // One level only: a recursive mkdir says of a read-only file system that there is no such folder.
    mkdirSync(folder);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    if (!isFolder(folder)) throw blocked(folder, 'outputs are made before they are published, and is no folder');
  }
  return join(folder, uniqueName(16));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Removes what builds have left that were killed. Only under the lock. @returns paths of what else is there, which stays. */
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
