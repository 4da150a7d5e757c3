/** Sizes of files. */
import { statSync } from 'node:fs';

/** The sum in bytes; undefined if there is none of them. Files that cannot be read are none; who opens them says so. */
export function sizeOfFiles(paths: readonly string[]): number | undefined {
  let sum = 0;
  for (const path of paths) {
    const size = findSize(path);
    if (size === undefined) return undefined;
    sum += size;
  }
  return sum;
}

function findSize(path: string): number | undefined {
  try {
    return statSync(path).size;
  } catch {
    return undefined;
  }
}
