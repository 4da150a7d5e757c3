/** Which program runs the bundle on the board? A Python file of this folder, copied as it is. */
import { readFile } from 'node:fs/promises';

export function readRunnerSource(): Promise<Uint8Array> {
  return readFile(new URL('./board/runner.py', import.meta.url));
}
