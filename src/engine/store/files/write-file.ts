/** Atomic writes: a file is written under a temporary name, flushed and renamed, so that it appears complete or not at all. */
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FORBIDDEN, hasCode } from '../../../base/system-error.js';
import { statLink } from './stamp.js';
import { uniqueName } from './unique-name.js';

/** Suffix of incomplete files. A file that a killed process leaves with it is not damage. */
export const UNFINISHED = '.tmp';

export function isUnfinished(path: string): boolean {
  return path.endsWith(UNFINISHED);
}

/**
 * Writes `content` to `path` through a temporary file beside it. `flush`: the file survives a power cut too.
 * Calls that do not wait for a disk are synchronous: handing each small call to another thread takes several times longer than the call.
 */
export async function writeWhole(path: string, content: string | Uint8Array, flush: 'flush' | 'no-flush' = 'flush'): Promise<void> {
  const temporary = `${path}.${uniqueName(12)}${UNFINISHED}`;
  try {
    withFolder(path, () => writeFileSync(temporary, content, { flag: 'wx', mode: 0o600 }));
    if (flush === 'flush') await flushFile(temporary);
    renameOver(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * Puts a complete file in the place of `path`. An empty folder there is removed; one that holds something is not the engine's, and stays.
 * @throws file system errors, EISDIR for such a folder among them.
 */
export function renameOver(complete: string, path: string): void {
  try {
    renameSync(complete, path);
  } catch (error) {
    if (!clearEmptyFolder(path)) throw error;
    renameSync(complete, path);
  }
}

/** @returns whether an empty folder was at the path, and is removed. */
export function clearEmptyFolder(path: string): boolean {
  if (statLink(path)?.kind !== 'folder' || isBlocked(path)) return false;
  rmdirSync(path);
  return true;
}

/** Whether a folder that holds something is in the place of a file of the engine. */
export function isBlocked(path: string): boolean {
  if (statLink(path)?.kind !== 'folder') return false;
  try {
    return readdirSync(path).length > 0;
  } catch (error) {
    if (hasCode(error, ...FORBIDDEN)) return true;
    throw error;
  }
}

/** Waits until the content of the file is on disk. */
export async function flushFile(path: string): Promise<void> {
  const file = await open(path, process.platform === 'win32' ? 'r+' : 'r');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Runs `action`, which needs the folder of `path`. Creates the folder only if it is missing. */
export function withFolder(path: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    action();
  }
}
