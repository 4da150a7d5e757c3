/** Summaries of repeated timings. All repeats count. */
import { getDefined, invariant } from '../../base/invariant.js';
import { integer, number, openObject } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';

const MS = number({ minimum: 0 });

export const LATENCY_SCHEMA = openObject({
  repeats: integer(1),
  minMs: MS,
  meanMs: MS,
  stdMs: number({ minimum: 0 }, 'Sample standard deviation: divided by repeats − 1; 0 for one repeat.'),
  p50Ms: MS,
  p90Ms: MS,
  p99Ms: MS,
});

/** Milliseconds. Percentiles interpolate linearly between the two nearest repeats (Hyndman and Fan 1996, type 7: numpy's default). */
export type LatencySummary = FromSchema<typeof LATENCY_SCHEMA>;

/** @param durationsMs at least one. */
export function summarizeLatency(durationsMs: readonly number[]): LatencySummary {
  invariant(durationsMs.length > 0, 'a latency needs at least one repeat');
  const sorted = [...durationsMs].sort((a, b) => a - b);
  const meanMs = sorted.reduce((sum, x) => sum + x, 0) / sorted.length;
  const squares = sorted.reduce((sum, x) => sum + (x - meanMs) ** 2, 0);
  return {
    repeats: sorted.length,
    minMs: getDefined(sorted[0], 'least'),
    meanMs,
    stdMs: sorted.length === 1 ? 0 : Math.sqrt(squares / (sorted.length - 1)),
    p50Ms: percentile(sorted, 0.5),
    p90Ms: percentile(sorted, 0.9),
    p99Ms: percentile(sorted, 0.99),
  };
}

/** @param sorted ascending. @param share 0 … 1. */
function percentile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
  return low + (high - low) * (place - Math.floor(place));
}
