/** The log lines about outputs before and after a recovery. */
import { describeOutputs } from '../../../../src/quant/recovery/output-errors.js';

const linesOf = (before: number | null, after: number | null) => describeOutputs({ y: before }, { y: after }, 'rounding', 'more samples');

it('warn of an output that became worse by a figure that shows', () => {
  expect(linesOf(45.2, 45.1)).toEqual([
    ['info', 'output "y": SQNR 45.2 dB before, 45.1 dB after'],
    ['warning', 'output "y" has an SQNR of 45.1 dB after the rounding, and 45.2 dB before: use more samples'],
  ]);
  expect(linesOf(null, 90).map(([level]) => level)).toEqual(['info', 'warning']);
});

it.each([
  [45.12, 45.08],
  [45.1, 45.1],
  [45.1, 46],
  [45.1, null],
  [null, null],
])('do not warn of %p dB before and %p after', (before, after) => {
  expect(linesOf(before, after).map(([level]) => level)).toEqual(['info']);
});
