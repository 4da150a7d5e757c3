/** What a path leads to. */
import { statSync } from 'node:fs';

export type PathKind = 'file' | 'folder' | 'none';

/** Follows links. What cannot be examined, or is neither a file nor a folder, counts as none: the code that reads it reports the reason. */
export function findPathKind(path: string): PathKind {
  try {
    const facts = statSync(path);
    return facts.isFile() ? 'file' : facts.isDirectory() ? 'folder' : 'none';
  } catch {
    return 'none';
  }
}
