/** The guard by the network's outputs: which beginning of the changes it keeps, how many it tries, and what it calls an error. */
import { describeGuard, guardByOutputs, MOST_TRIALS, sharesOf } from '../../../../src/quant/recovery/output-guard.js';
import { compareArrays } from '../../../../src/tensor/compare.js';

/** The guard on errors given by the number of kept changes. */
async function guard(changes: number, errorOf: (kept: number) => number) {
  const asked: number[] = [];
  const report = await guardByOutputs({ changes, samples: 4 }, async kept => {
    asked.push(kept);
    return { y: errorOf(kept) };
  });
  return { report, asked };
}

it('keeps all changes where each lowers the error', async () => {
  const { report } = await guard(100, kept => 0.9 - kept / 200);
  expect(report).toMatchObject({ samples: 4, changes: 100, kept: 100, error: { none: { y: 0.9 }, all: { y: 0.4 }, kept: { y: 0.4 } } });
  expect(describeGuard(report, 'layers')).toEqual([
    'info',
    'the outputs keep all 100 changed layers: error of the outputs 0.9000 without changes, 0.4000 with all (11 trials on 4 samples)',
  ]);
});

it('keeps the beginning before the change that raises the error', async () => {
  // The 30th change breaks the output; the ends of blocks are 13, 25, 38 …, the middles 19 and 32, then 22 and 29.
  const { report } = await guard(100, kept => (kept > 29 ? 0.95 : 0.9 - kept / 100));
  expect(report).toMatchObject({ kept: 29, error: { none: { y: 0.9 }, all: { y: 0.95 } } });
  expect(report.error.kept.y).toBeCloseTo(0.61, 12);
  expect(describeGuard(report, 'layers')).toEqual([
    'info',
    'the outputs keep the first 29 of 100 changed layers: error of the outputs 0.9000 without changes, 0.9500 with all, 0.6100 with those (13 trials on 4 samples)',
  ]);
});

it('keeps none where every change raises the error', async () => {
  expect((await guard(20, kept => (kept === 0 ? 0.1 : 0.5))).report).toMatchObject({ kept: 0, error: { kept: { y: 0.1 } } });
});

it('keeps all where fewer are better by less than a tenth', async () => {
  expect((await guard(20, kept => (kept === 5 ? 0.46 : 0.5))).report.kept).toBe(20);
  expect((await guard(20, kept => (kept === 5 ? 0.44 : 0.5))).report.kept).toBe(5);
});

it('keeps all without an error at the outputs, and without outputs', async () => {
  expect((await guard(20, () => 0)).report.kept).toBe(20);
  expect((await guardByOutputs({ changes: 3, samples: 1 }, async () => ({}))).kept).toBe(3);
});

it.each([0, 1, 2, 3, 7, 8, 9, 61, 113, 1000])('with %p changes, each beginning is tried once, and few are', async changes => {
  for (const worst of [0, 1, Math.floor(changes / 3), changes]) {
    const { asked, report } = await guard(changes, kept => Math.min(1, 0.2 + Math.abs(kept - worst) / 2000));
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked.length).toBeLessThanOrEqual(Math.min(MOST_TRIALS, changes + 1));
    expect(asked.every(kept => Number.isInteger(kept) && kept >= 0 && kept <= changes)).toBe(true);
    expect(report.trials.map(trial => trial.changes)).toEqual([...asked].sort((a, b) => a - b));
  }
});

it('the error is the noise relative to the signal, at most 1', () => {
  const share = (float: readonly number[], int8: readonly number[]): number | undefined =>
    sharesOf(new Map([['y', compareArrays(Float32Array.from(float), Float32Array.from(int8))]])).y;
  expect(share([3, 4], [3, 3])).toBeCloseTo(1 / 25, 12);
  expect(share([1, 1], [1, 1])).toBe(0);
  expect(share([0, 0], [0, 0])).toBe(0);
  expect(share([1, 0], [5, 0])).toBe(1);
  expect(share([0, 0], [1, 0])).toBe(1);
  expect(share([1, 2], [Number.NaN, 2])).toBe(1);
  expect(share([], [])).toBe(0);
});
