/** What is the digest of a file, at the least cost? Small files at once, large ones as a stream. */
import { readFileSync } from 'node:fs';
import type { Digest } from '../../base/digest.js';
import { digestBytes, digestFile } from '../../base/digest.js';

/** Up to this size a file is read in one call, and not by another thread. */
export const AT_ONCE_BYTES = 1 << 18;

export async function digestPath(path: string, sizeBytes: number): Promise<Digest> {
  return sizeBytes <= AT_ONCE_BYTES ? digestBytes(readFileSync(path)) : digestFile(path);
}
