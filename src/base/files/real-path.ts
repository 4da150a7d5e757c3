/** Resolution of symbolic links in paths that need not exist. */
import { readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Maximum number of links in a chain, as in Linux. */
const MOST_LINKS = 40;

/** The path with all links resolved. Parts that do not exist are kept as written. @param path absolute. */
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
