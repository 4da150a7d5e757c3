/** Removal of the folder of a run that has ended. */
import { lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withOpenFolders } from '../../store/files/open-folders.js';

/** Maximum number of entries that are removed synchronously. A larger folder is removed asynchronously, in another thread. */
const AT_ONCE_FILES = 100;

/** Removes a run folder. What cannot be removed now is removed when the next build starts. */
export async function removeRunFolder(folder: string): Promise<void> {
  try {
    if (removeAtOnce(folder, AT_ONCE_FILES) >= 0) return;
  } catch {
    // The asynchronous removal below tries again.
  }
  await withOpenFolders(folder, () => rm(folder, { recursive: true, force: true, maxRetries: 2 })).catch(() => undefined);
}

/** Whether the folder takes almost no disk space. */
export function isSmallFolder(folder: string): boolean {
  try {
    return subtractContent(folder, { entries: 30, bytes: 1 << 16 }).entries >= 0;
  } catch {
    return false;
  }
}

interface Budget {
  readonly entries: number;
  readonly bytes: number;
}

const EXHAUSTED: Budget = { entries: -1, bytes: 0 };

/** Returns what is left of `budget` after the folder's content is subtracted. */
function subtractContent(folder: string, budget: Budget): Budget {
  let left = budget;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const bytes = entry.isFile() ? left.bytes - lstatSync(path).size : left.bytes;
    left = { entries: left.entries - 1, bytes };
    if (entry.isDirectory()) left = subtractContent(path, left);
    if (left.entries < 0 || left.bytes < 0) return EXHAUSTED;
  }
  return left;
}

/** @returns the number of entries that may still be removed. Negative: there were too many, and some remain. */
function removeAtOnce(folder: string, budget: number): number {
  let left = budget;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (--left < 0) return left;
    if (entry.isDirectory()) left = removeAtOnce(path, left);
    else unlinkSync(path);
    if (left < 0) return left;
  }
  rmdirSync(folder);
  return left;
}
