/** Change hints, which tell a watcher when to check again. All hints that arrive while it is busy cause one further check. */

/** 'input': a file that determines or feeds the build. 'output': a file under artifacts/, usually written by the build itself. */
export type Hint = 'input' | 'output';

export interface Hints {
  /** Reports that something may have changed. */
  readonly hint: (kind: Hint) => void;
  /** Forgets the hints of these kinds, because the caller is about to check for changes. @returns the kinds that had hints. */
  readonly take: (kinds: readonly Hint[]) => readonly Hint[];
  /**
   * Resolves after a hint of one of `kinds`, once no further hint arrives for `quietMs`, but at most `LONGEST_QUIET_MS` after the first:
   * continuous writing does not delay it longer. Also resolves when `signal` is aborted.
   */
  readonly wait: (kinds: readonly Hint[], quietMs: number, signal: AbortSignal) => Promise<'hinted' | 'aborted'>;
}

export const LONGEST_QUIET_MS = 1_000;

/** @param delay resolves after some milliseconds, or earlier when the signal is aborted. Tests control it by hand. */
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
