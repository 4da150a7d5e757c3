/** Lists names and files of folders. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isMissing } from '../../../base/system-error.js';

/** Names in a folder; none if the folder is missing. */
export function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

interface FoundFile {
  readonly name: string;
  readonly path: string;
}

/** All files below a folder, sorted by path; none if the folder is missing. */
export function filesUnder(folder: string): FoundFile[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(entry => {
        const path = join(folder, entry.name);
        return entry.isDirectory() ? filesUnder(path) : [{ name: entry.name, path }];
      });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
