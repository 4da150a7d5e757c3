/** How long will it take, by what the stages took last? The longest chain of what is left, or the work that a pool has left, whichever is longer. */
import type { Outlook } from '../../model/outlook.js';

/** Beyond this share of what it took last, a running stage is another than then: nothing is said. */
const MOST_OVERRUN = 1.25;

/**
 * The time that is left, in ms: no schedule is shorter, and a good one is little longer. Stages that turn out to need no run make it shorter.
 * @param ended stages that are done with.
 * @param elapsedMs how long each running stage has been running.
 * @returns undefined where the time of anything that is left is not known.
 */
export function forecast(
  { tasks, capacity }: Outlook,
  ended: ReadonlySet<string>,
  elapsedMs: ReadonlyMap<string, number> = new Map(),
): number | undefined {
  const chains = new Map<string, number>();
  const work = new Map<string, number>();
  let longestMs = 0;
  for (const { stage, dependsOn, units, expectedMs } of tasks) {
    if (ended.has(stage)) continue;
    const elapsed = elapsedMs.get(stage) ?? 0;
    if (expectedMs === undefined || elapsed > MOST_OVERRUN * expectedMs + 1000) return undefined;
    const leftMs = Math.max(0, expectedMs - elapsed);
    const chain = leftMs + Math.max(0, ...dependsOn.map(name => chains.get(name) ?? 0));
    chains.set(stage, chain);
    longestMs = Math.max(longestMs, chain);
    for (const [pool, count] of Object.entries(units)) {
      const size = capacity[pool] ?? 1;
      const busy = (work.get(pool) ?? 0) + (leftMs * Math.min(count, size)) / size;
      work.set(pool, busy);
      longestMs = Math.max(longestMs, busy);
    }
  }
  return longestMs;
}
