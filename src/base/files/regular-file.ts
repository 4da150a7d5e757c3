/** Whether a path leads to a file. */
import { statSync } from 'node:fs';

/** Whether there is a file, links followed. What cannot be examined counts as none: the code that reads it reports the reason. */
export function isRegularFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
