/** Latency summaries against numpy: mean, std with ddof 1, and percentiles with linear interpolation. */
import { summarizeLatency } from '../../../src/runtime/measure/latency.js';

it('summarizes as numpy does', () => {
  // numpy.percentile([4, 1, 3, 10, 2], [50, 90, 99]) = [3, 7.6, 9.76]; mean 4; std(ddof=1) = 3.5355339059327378
  const summary = summarizeLatency([4, 1, 3, 10, 2]);
  expect(summary).toMatchObject({ repeats: 5, minMs: 1, meanMs: 4, p50Ms: 3 });
  expect(summary.stdMs).toBeCloseTo(3.5355339059327378, 12);
  expect(summary.p90Ms).toBeCloseTo(7.6, 12);
  expect(summary.p99Ms).toBeCloseTo(9.76, 12);
});

it('one repeat has standard deviation 0', () => {
  expect(summarizeLatency([7])).toEqual({ repeats: 1, minMs: 7, meanMs: 7, stdMs: 0, p50Ms: 7, p90Ms: 7, p99Ms: 7 });
});
