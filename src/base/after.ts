/** A timer of any length: Node's own end at once where they are asked for more than 24.8 days. */

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Calls `act` once after `delayMs`; does not keep the process alive. @returns what takes it back. */
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
