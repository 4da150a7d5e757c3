/** Reads a pipeline or params file: a regular file of bounded size, so that neither a pipe nor a device can hold the command up. */
import { readFileSync, statSync } from 'node:fs';

/** Of one file: what is parsed within a gigabyte. */
export const MAX_CHARACTERS = 16_000_000;
/** UTF-8. */
const MOST_BYTES_PER_CHARACTER = 3;

/** @throws Error where it is no such file, or what the file system throws. */
export function readConfigText(path: string): string {
  const stats = statSync(path);
  if (stats.isDirectory()) throw new Error('it is a folder');
  if (!stats.isFile()) throw new Error('it is no regular file but a pipe, socket or device');
  if (stats.size > MAX_CHARACTERS * MOST_BYTES_PER_CHARACTER)
    throw new Error(`it has more than ${MAX_CHARACTERS.toLocaleString('en')} characters`);
  return readFileSync(path, 'utf8');
}
