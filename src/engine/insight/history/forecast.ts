/**
 * Forecasts the remaining time of a build from the last durations of its stages.
 * It is the longest remaining chain, or the remaining work of a pool, whichever is longer.
 */
import type { Outlook } from '../../model/outlook.js';

/** A running stage that takes longer than this multiple of its last duration, plus one second, has changed: no forecast is given. */
const MOST_OVERRUN = 1.25;

/**
 * The remaining time in ms. No schedule is shorter, and a good one is only slightly longer. Stages that turn out not to run shorten it.
 * @param ended stages that have ended.
 * @param elapsedMs how long each running stage has been running.
 * @returns undefined if the duration of any remaining stage is unknown.
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
