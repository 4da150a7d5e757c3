/** Names for what is not complete yet: no other process and no earlier call gives the same. */
import { randomBytes } from 'node:crypto';

let ofProcess: string | undefined;
let given = 0;

/** Hex digits. Random numbers are drawn once per process: a build needs several names per stage. */
export function uniqueName(): string {
  ofProcess ??= randomBytes(8).toString('hex');
  given += 1;
  return `${ofProcess}${given.toString(16)}`;
}
