/** Retries calls after temporary failures, with growing waits or the wait that the server asks for. */
import { setTimeout as wait } from 'node:timers/promises';
import { isPassing } from '../error/remote-error.js';
import type { Patience } from './remote-cache.js';

/** @param call gets the number of the attempt, from 1. @throws the error of the last attempt, or an abort. */
export async function repeat<T>(patience: Patience, signal: AbortSignal, call: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(attempt);
    } catch (error) {
      if (!isPassing(error) || attempt >= patience.attempts || signal.aborted) throw error;
      const waitMs = error.waitMs ?? spread(patience.firstWaitMs * 2 ** (attempt - 1));
      if (waitMs > patience.longestWaitMs) throw error;
      await wait(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw error;
    }
  }
}

/** Between half of the wait and all of it, so that many clients do not come back at once. */
function spread(waitMs: number): number {
  return waitMs * (0.5 + Math.random() / 2);
}
