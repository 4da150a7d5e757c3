/** Writes a short text to stdout without its stream. All of it is written before this returns; if that is not possible, the stream writes the rest. */
import { writeSync } from 'node:fs';
import { hasCode } from '../../base/system-error.js';
import { watchOutput } from './lost-output.js';

/** @returns whether all of it is written, or the reader is gone. If not, the process must not exit before the stream is done. */
export function writeNow(text: string): boolean {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // The reader may have closed the pipe.
      if (hasCode(error, 'EPIPE')) return true;
      watchOutput();
      process.stdout.write(rest);
      return false;
    }
  }
  return true;
}
