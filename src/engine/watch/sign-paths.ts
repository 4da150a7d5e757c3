/** Has anything at some paths changed? Told by a signature of the stamps of all that is there, without reading content. */
import { digestBytes } from '../../base/digest.js';
import { lookAt } from '../cache/stamp.js';
import { signatureOf, walkFolder } from '../cache/tree.js';

export function signPaths(paths: readonly string[]): string {
  return digestBytes(paths.map(signPath).join('\n'));
}

/** What cannot be looked at is as if it were not there: the build says what is wrong with it. */
function signPath(path: string): string {
  try {
    const look = lookAt(path);
    if (look?.kind !== 'folder') return look?.stamp ?? 'nothing';
    return signatureOf(walkFolder(path, 'follow'));
  } catch {
    return 'unreadable';
  }
}
