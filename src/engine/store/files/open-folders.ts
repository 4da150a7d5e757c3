/**
 * Restores access to folders and files of a build whose permissions a program or a user has removed.
 * These files belong to the build, and only the executable bit of their mode is kept.
 */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FORBIDDEN, hasCode } from '../../../base/system-error.js';

const FOLDER = 0o700;
const FILE = 0o400;

/** Runs `work`. If permissions forbid it, gives the owner access to everything in `folder` and tries once more. */
export async function withOpenFolders<T>(folder: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!hasCode(error, ...FORBIDDEN)) throw error;
    openFolders(folder);
    return await work();
  }
}

/** Gives the owner read access to everything in `folder` and to `folder` itself, and write access to folders. Links are not followed. */
export function openFolders(folder: string): void {
  openFolder(folder);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openFolders(path);
    else if (entry.isFile()) open(path, FILE);
  }
}

/** Like `openFolders`, for the folder alone. */
export function openFolder(folder: string): void {
  open(folder, FOLDER);
}

function open(path: string, least: number): void {
  const mode = lstatSync(path).mode & 0o777;
  if ((mode & least) !== least) chmodSync(path, mode | least);
}
