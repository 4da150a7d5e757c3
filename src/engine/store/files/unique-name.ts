/** Names for incomplete files: unique across processes, and unique in one process for a long time. */
import { randomBytes } from 'node:crypto';

let ofProcess: string | undefined;
let given = 0;

const COUNTER_DIGITS = 4;

/**
 * Hexadecimal digits; their number must match the patterns of own names (own-names.ts).
 * Random numbers are drawn once per process, because a build needs several names per stage. The last four digits are a counter that
 * restarts after 65,536 names.
 */
export function uniqueName(digits: 12 | 16): string {
  ofProcess ??= randomBytes(8).toString('hex');
  given = (given + 1) % 16 ** COUNTER_DIGITS;
  return ofProcess.slice(0, digits - COUNTER_DIGITS) + given.toString(16).padStart(COUNTER_DIGITS, '0');
}
