/** How does a file appear as a whole or not at all? Written under another name, flushed, renamed. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { uniqueName } from './unique-name.js';

/** How names of files end that are not whole yet: what a kill leaves of them is no damage. */
export const UNFINISHED = '.tmp';

export function isUnfinished(path: string): boolean {
  return path.endsWith(UNFINISHED);
}

/**
 * Writes `content` to `path` by way of a temporary name beside it. `flush`: survive a power cut too.
 * What does not wait for a disk is done at once: handing each small call to another thread takes several times longer than the call.
 */
export async function writeWhole(path: string, content: string | Uint8Array, flush: 'flush' | 'no-flush' = 'flush'): Promise<void> {
  const temporary = `${path}.${uniqueName(12)}${UNFINISHED}`;
  try {
    withFolder(path, () => writeFileSync(temporary, content, { flag: 'wx', mode: 0o600 }));
    if (flush === 'flush') await flushFile(temporary);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Waits until the disk has the file's content. */
export async function flushFile(path: string): Promise<void> {
  const file = await open(path, process.platform === 'win32' ? 'r+' : 'r');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Runs `action`, which needs the folder of `path`; makes the folder only where it is missing. */
export function withFolder(path: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    action();
  }
}
