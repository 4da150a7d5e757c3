/** Timers without an upper limit; those of Node are limited to 24.8 days. */

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls `act` once after `delayMs`; does not keep the process alive. @returns a function that cancels the call. */
export function after(delayMs: number, act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const wait = (leftMs: number): void => {
    const stepMs = Math.min(leftMs, MAX_TIMER_MS);
    timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : act()), stepMs);
    timer.unref();
  };
  wait(delayMs);
  return () => clearTimeout(timer);
}
