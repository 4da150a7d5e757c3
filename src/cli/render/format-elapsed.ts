/** The time that a stage has run so far. */

/** Whole seconds, rounded down, so that a live line changes once per second: "0 s", "35 s", "3 min 12 s". */
export function formatElapsed(elapsedMs: number): string {
  const seconds = Math.max(0, Math.floor(elapsedMs / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
