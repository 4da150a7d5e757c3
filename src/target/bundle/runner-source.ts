/** Reads the Python program that runs a bundle on the board. */
import { readFile } from 'node:fs/promises';

export function readRunnerSource(): Promise<Uint8Array> {
  return readFile(new URL('./board/runner.py', import.meta.url));
}
