/** The spread of measured times, against figures computed by hand. */

import type { FormReport, PartReport } from '../../../src/runtime/measure/bench-report.js';
import { summarizeLatency } from '../../../src/runtime/measure/latency.js';
import { describeDisturbed, makeSpread, spreadOf } from '../../../stages/bench/spread.js';

const form = (name: FormReport['form'], ...counts: readonly (readonly number[])[]): FormReport => ({
  form: name,
  rows: [
    {
      strategy: { kind: 'whole' },
      counts: counts.map(times => ({ calls: 1, padded: 0, here: summarizeLatency(times) })),
      perImageMs: 0,
    },
  ],
  best: 0,
  bestAt: [0],
});
const part = (name: string, parts: Partial<PartReport>): PartReport => ({
  part: name,
  fed: 'random',
  counts: [],
  imagesWithout: 0,
  forms: [],
  ...parts,
});

// Median 3; the least 2; the 90th percentile of 11 repeats is the tenth.
const QUIET = [2, 3, 3, 3, 3, 3, 3, 3, 3, 3.5, 9];
const LOUD = [3, 3, 3, 3, 3, 4, 4, 4, 4, 8, 8];

it('is the larger distance from the median, to the least or to the 90th percentile; a single outlier does not count', () => {
  expect(spreadOf(summarizeLatency(QUIET))).toBe(1);
  expect(spreadOf(summarizeLatency(LOUD))).toBe(4);
  expect(spreadOf(summarizeLatency([5]))).toBe(0);
});

it('stands at the paths of the figures: parts, ratios, means over images, and sums', () => {
  const backbone = part('backbone', { forms: [form('float', QUIET), form('int8', LOUD)], speedup: 0.75 });
  const counts = [
    { rows: 1, images: 3 },
    { rows: 2, images: 1 },
  ];
  const head = part('head', { counts, forms: [form('float', QUIET, LOUD)] });
  expect(makeSpread([backbone, head])).toEqual({
    backbone: { floatMs: 1, int8Ms: 4, speedup: 0.75 * (1 / 3 + 1) },
    head: { floatMs: 4, floatBestMs: (3 * 1 + 4) / 4 },
    total: { floatMs: 1 + (3 * 1 + 4) / 4 },
  });
});

it('is named in the log where repeats were likely disturbed', () => {
  expect(describeDisturbed([part('a', { forms: [form('float', [3, 3, 3]), form('int8', LOUD)] })])).toEqual([
    'a, int8: repeats differ by ±100 %, likely because other programs ran; build --force measures again',
  ]);
});
