/** What if a program has made what it wrote unreadable, or folders of it read-only, or somebody has closed artifacts? They are ours, and no mode but the executable bit is kept: they are opened. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../model/engine-error.js';

const FOLDER = 0o700;
const FILE = 0o400;

/** Does `work`; where a mode forbids it, opens all that is in `folder` for its owner and tries once more. */
export async function withOpenFolders<T>(folder: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isForbidden(error)) throw error;
    openFolders(folder);
    return await work();
  }
}

/** Gives the owner of everything in `folder`, and of the folder itself, the right to read it, and to change what is in folders. Links are not followed. */
export function openFolders(folder: string): void {
  openFolder(folder);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openFolders(path);
    else if (entry.isFile()) open(path, FILE);
  }
}

/** As `openFolders`, of the folder alone. */
export function openFolder(folder: string): void {
  open(folder, FOLDER);
}

export function isForbidden(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'EACCES' || code === 'EPERM';
}

function open(path: string, least: number): void {
  const mode = lstatSync(path).mode & 0o777;
  if ((mode & least) !== least) chmodSync(path, mode | least);
}
