/** What a command says, as messages: line by line while it runs, and what was not heard then at its end. */
import { createHash } from 'node:crypto';
import { decodeLine, type FromExecution } from './execution-messages.js';

/** A longer line is not passed on while the command runs. */
const MOST_HELD_BYTES = 1 << 20;

export interface SaidMessages {
  /** Takes bytes of standard output, in their order, from the first one on. */
  hear(data: Uint8Array): void;
  /** Takes the whole of standard output. @returns what the command said about its end. */
  end(whole: Uint8Array): FromExecution | undefined;
}

/** @param pass gets each message once; those about the end of the command are not passed. */
export function createSaidMessages(pass: (message: FromExecution) => void): SaidMessages {
  /** Of the lines that were passed on: their length and digest, so that the whole is known to begin with them. */
  let passedBytes = 0;
  const passed = createHash('sha256');
  let held = Buffer.alloc(0);
  let isDeaf = false;
  /** What the lines that were passed on said about the end. */
  let heardEnd: FromExecution | undefined;
  const passLines = (bytes: Uint8Array): FromExecution | undefined => {
    let last: FromExecution | undefined;
    for (const line of Buffer.from(bytes).toString().split('\n')) {
      if (line === '') continue;
      const message = decodeLine(line);
      if (message.kind === 'done' || message.kind === 'failed' || message.kind === 'refused') last = message;
      else pass(message);
    }
    return last;
  };
  return {
    hear(data) {
      if (isDeaf) return;
      held = Buffer.concat([held, data]);
      const end = held.lastIndexOf(0x0a) + 1;
      if (end === 0) {
        isDeaf = held.length > MOST_HELD_BYTES;
        return;
      }
      const lines = held.subarray(0, end);
      held = held.subarray(end);
      passedBytes += lines.length;
      passed.update(lines);
      heardEnd = passLines(lines) ?? heardEnd;
    },
    end(whole) {
      const begin = whole.subarray(0, passedBytes);
      const isSame = createHash('sha256').update(begin).digest('hex') === passed.copy().digest('hex');
      isDeaf = true;
      if (!isSame) return passLines(whole);
      return passLines(whole.subarray(passedBytes)) ?? heardEnd;
    },
  };
}
