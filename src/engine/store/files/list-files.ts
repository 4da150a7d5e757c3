/** What is in a folder, by name. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isMissing } from '../../model/engine-error.js';

/** Names in a folder; one that is not there has none. */
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

/** All files below, in the order of their paths. A folder that is not there holds none. */
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
