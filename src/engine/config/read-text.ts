/** Reading of pipeline and params files. Only regular files of bounded size are accepted, so that no pipe or device can block the command. */
import { readFileSync, statSync } from 'node:fs';

/** Maximum size of one file. A file of this size is parsed within one gigabyte of memory. */
export const MAX_CHARACTERS = 16_000_000;
/** In UTF-8, per UTF-16 code unit. */
const MOST_BYTES_PER_CHARACTER = 3;

/** @throws Error if it is not such a file, or the file system's error. */
export function readConfigText(path: string): string {
  const stats = statSync(path);
  if (stats.isDirectory()) throw new Error('it is a folder');
  if (!stats.isFile()) throw new Error('it is not a regular file but a pipe, socket or device');
  if (stats.size > MAX_CHARACTERS * MOST_BYTES_PER_CHARACTER)
    throw new Error(`it has more than ${MAX_CHARACTERS.toLocaleString('en')} characters`);
  return readFileSync(path, 'utf8');
}
