/** When should a watcher look again? After any hint since it last looked: many hints while it is busy are one more look, never two. */

/** 'input': something that decides or feeds the build. 'output': something under artifacts/, most often the build's own doing. */
export type Hint = 'input' | 'output';

export interface Hints {
  /** Something may have changed. */
  readonly hint: (kind: Hint) => void;
  /** Forgets the hints of these kinds, as who looks now will see what they mean. @returns those that there were. */
  readonly take: (kinds: readonly Hint[]) => readonly Hint[];
  /**
   * Resolves once there is a hint of one of `kinds`, and no further one for `quietMs`, but at most `LONGEST_QUIET_MS` after the first:
   * who never stops writing is not waited for. Or when `signal` is aborted.
   */
  readonly wait: (kinds: readonly Hint[], quietMs: number, signal: AbortSignal) => Promise<'hinted' | 'aborted'>;
}

export const LONGEST_QUIET_MS = 1_000;

/** @param delay resolves after some milliseconds, or earlier when the signal is aborted; tests drive it by hand. */
export function makeHints(delay: (durationMs: number, signal: AbortSignal) => Promise<void>): Hints {
  const seen = new Set<Hint>();
  let count = 0;
  let wake: (() => void) | undefined;
  return {
    hint(kind) {
      seen.add(kind);
      count += 1;
      wake?.();
    },
    take(kinds) {
      return kinds.filter(kind => seen.delete(kind));
    },
    async wait(kinds, quietMs, signal) {
      const onAbort = (): void => wake?.();
      signal.addEventListener('abort', onAbort, { once: true });
      while (!kinds.some(kind => seen.has(kind)) && !signal.aborted) {
        await new Promise<void>(resolve => {
          wake = resolve;
        });
      }
      wake = undefined;
      signal.removeEventListener('abort', onAbort);
      let waitedMs = 0;
      for (let before = -1; before !== count && waitedMs < LONGEST_QUIET_MS && !signal.aborted; waitedMs += quietMs) {
        before = count;
        await delay(quietMs, signal);
      }
      return signal.aborted ? 'aborted' : 'hinted';
    },
  };
}
