/** Where a path leads when every link in it is followed. */
import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Links in a chain, as Linux follows them. */
const MOST_LINKS = 40;

/** The path without links. What does not exist is taken as it is written, behind the last folder or link that does. @param path absolute. */
export function realPathOf(path: string, left = MOST_LINKS): string {
  try {
    return realpathSync.native(path);
  } catch {
    const above = dirname(path);
    if (left === 0 || above === path) return path;
    const target = readLink(path);
    if (target !== undefined) return realPathOf(resolve(above, target), left - 1);
    return join(realPathOf(above, left - 1), basename(path));
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
