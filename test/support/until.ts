/** Waiting until something is so, rather than for a time, and whether a process is alive. */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

/** Long enough for any machine: what takes longer does not come. */
const LONGEST_MS = 60_000;

/** @param what names it in the message. @throws Error where the condition does not become true within a minute. */
export async function until(condition: () => boolean, what = 'what the test expects'): Promise<void> {
  const started = performance.now();
  while (!condition()) {
    if (performance.now() - started > LONGEST_MS) throw new Error(`${what} did not come within a minute`);
    await wait(10);
  }
}

/** A zombie is not alive: it only waits to be reaped. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
