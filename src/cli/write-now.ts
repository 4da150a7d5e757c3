/** How is a short text written to stdout without its stream? All of it before this returns, or, where that cannot be, by the stream after all. */
import { writeSync } from 'node:fs';
import { systemCode } from '../engine/model/engine-error.js';
import { watchOutput } from './lost-output.js';
import { flushOutput } from './render/batched-output.js';

export function writeNow(text: string): void {
  flushOutput();
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      const code = systemCode(error);
      // Whoever reads it may have left.
      if (code === 'EPIPE') return;
      watchOutput();
      process.stdout.write(rest);
      return;
    }
  }
}
