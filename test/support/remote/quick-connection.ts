/** A connection whose waits are short, so that tests of faults are quick. */
import type { Connection } from '../../../src/remote/transport/remote-cache.js';

export const QUICK_CONNECTION: Connection = {
  patience: { callMs: 20_000, minBytesPerSecond: 1_000_000, attempts: 3, firstWaitMs: 5, longestWaitMs: 500 },
  headers: {},
  mask: text => text,
  tls: {},
  program: { name: 'tanren', version: '0' },
};
