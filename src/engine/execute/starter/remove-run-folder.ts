/** Removing the folder of a run that has ended. */
import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withOpenFolders } from '../../store/files/open-folders.js';

/** So many files are removed at once; a folder with more of them by another thread. */
const AT_ONCE_FILES = 100;

/** Removes a run folder. What cannot be removed now goes when the next build starts. */
export async function removeRunFolder(folder: string): Promise<void> {
  try {
    if (removeAtOnce(folder, AT_ONCE_FILES) >= 0) return;
  } catch {
    // The other way tries again.
  }
  await withOpenFolders(folder, () => rm(folder, { recursive: true, force: true, maxRetries: 2 })).catch(() => undefined);
}

/** @returns how many more may go; negative: these were too many, and some are left. */
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
