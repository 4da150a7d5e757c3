/** Writes a short text to stdout without its stream. All of it is written before this returns; if that is not possible, the stream writes the rest. */
import { writeSync } from 'node:fs';
import { hasCode } from '../../base/system-error.js';
import { watchOutput } from './lost-output.js';

export function writeNow(text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // The reader may have closed the pipe.
      if (hasCode(error, 'EPIPE')) return;
      watchOutput();
      process.stdout.write(rest);
      return;
    }
  }
}
