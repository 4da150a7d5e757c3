/** When should a watcher look again? After any hint since it last began to look: many hints while it is busy are one more round, never two. */

export interface Hints {
  /** Something may have changed. */
  readonly hint: () => void;
  /** Forgets the hints so far: what a round that begins now will see anyway. */
  readonly begin: () => void;
  /** Resolves once there is a hint since the last `begin`, and no further one for `quietMs`; or when `signal` is aborted. */
  readonly wait: (quietMs: number, signal: AbortSignal) => Promise<'hinted' | 'aborted'>;
}

/** @param delay resolves after some milliseconds, or earlier when the signal is aborted; tests drive it by hand. */
export function makeHints(delay: (durationMs: number, signal: AbortSignal) => Promise<void>): Hints {
  let count = 0;
  let wake: (() => void) | undefined;
  return {
    hint() {
      count += 1;
      wake?.();
    },
    begin() {
      count = 0;
    },
    async wait(quietMs, signal) {
      while (count === 0 && !signal.aborted) {
        await new Promise<void>(resolve => {
          wake = resolve;
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      for (let seen = -1; seen !== count && !signal.aborted; ) {
        seen = count;
        await delay(quietMs, signal);
      }
      wake = undefined;
      return signal.aborted ? 'aborted' : 'hinted';
    },
  };
}
