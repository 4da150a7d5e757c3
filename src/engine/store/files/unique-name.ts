/** Names for what is not complete yet: no other process gives the same, and this one gives others for a long time. */
import { randomBytes } from 'node:crypto';

let ofProcess: string | undefined;
let given = 0;

const COUNTER_DIGITS = 4;

/**
 * Hexadecimal digits, as many as the forms of own names say (own-names.ts).
 * Random numbers are drawn once per process, as a build needs several names per stage; the last digits count, and begin again after 65,536 names.
 */
export function uniqueName(digits: 12 | 16): string {
  ofProcess ??= randomBytes(8).toString('hex');
  given = (given + 1) % 16 ** COUNTER_DIGITS;
  return ofProcess.slice(0, digits - COUNTER_DIGITS) + given.toString(16).padStart(COUNTER_DIGITS, '0');
}
