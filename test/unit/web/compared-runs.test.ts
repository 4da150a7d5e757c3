/** Runs side by side: average precision per class, errors per value, and the artifacts of former runs. */

import { parseCocoDataset } from '../../../src/detection/coco/dataset.js';
import { measureCoco } from '../../../src/detection/coco/measure.js';
import { listCurves } from '../../../src/detection/coco/precision-recall.js';
import { parseCocoResults } from '../../../src/detection/coco/results.js';
import type { QuantizationReport } from '../../../src/quant/report/report-entries.js';
import { listClasses } from '../../../src/web/page/runs/class-rows.js';
import { joinRuns } from '../../../src/web/page/runs/layer-rows.js';
import { findKey } from '../../../src/web/views/moment-artifact.js';

describe('average precision per class', () => {
  const dataset = parseCocoDataset({
    images: [{ id: 1, width: 100, height: 100, file_name: 'a.png' }],
    categories: [
      { id: 1, name: 'one' },
      { id: 2, name: 'two' },
      { id: 3, name: 'never' },
    ],
    annotations: [
      { id: 1, image_id: 1, category_id: 1, bbox: [0, 0, 40, 40], area: 1600, iscrowd: 0 },
      { id: 2, image_id: 1, category_id: 2, bbox: [50, 50, 40, 40], area: 1600, iscrowd: 0 },
    ],
  });
  const found = (category: number, bbox: number[]) => ({ image_id: 1, category_id: category, score: 0.9, bbox });
  const judged = (results: object[]) => ({ curves: listCurves(measureCoco(dataset, parseCocoResults(results as never, dataset), 'bbox')) });

  it('is the mean over IoU thresholds, worked out by hand, with its change', () => {
    // The second box of the first side has an IoU of 36/40 = 0.9: found at 0.50 to 0.90, which are 9 of 10 thresholds.
    const all = judged([found(1, [0, 0, 40, 40]), found(2, [50, 50, 40, 36])]);
    const one = judged([found(1, [0, 0, 40, 40])]);
    const rows = listClasses([all, one]);
    expect(rows.map(({ name, aps, change }) => [name, ...aps, change])).toEqual([
      ['one', expect.closeTo(1, 9), expect.closeTo(1, 9), 0],
      ['two', expect.closeTo(0.9, 9), 0, expect.closeTo(-0.9, 9)],
    ]);
  });
});

describe('values of several runs', () => {
  const report = (values: Readonly<Record<string, number | null>>): QuantizationReport =>
    ({
      activations: Object.entries(values).map(([name, sqnrDb]) => ({ name, sqnrDb, dtype: 'int8' })),
      fused: [],
    }) as unknown as QuantizationReport;

  it('are those of any run; those that lost most come first, and one that became float gains', () => {
    const rows = joinRuns([report({ a: 30, b: 20, c: 10, d: null }), report({ a: 25, b: 21, d: 40 })]);
    expect(rows.map(({ name, own, change }) => [name, ...own, change])).toEqual([
      ['d', undefined, 40, Number.NEGATIVE_INFINITY],
      ['a', 30, 25, -5],
      ['b', 20, 21, 1],
      ['c', 10, undefined, Number.POSITIVE_INFINITY],
    ]);
  });
});

it('a stage has after a run the result of the newest run until then that changed it', () => {
  const run = (stages: readonly (readonly [string, string | undefined])[]) => ({
    stages: stages.map(([stage, key]) => ({ stage, outcome: 'executed', ...(key === undefined ? {} : { key }) })),
  });
  const runs = [
    run([
      ['a', 'k1'],
      ['b', 'k2'],
    ]),
    run([['a', undefined]]),
    run([['a', 'k3']]),
  ] as unknown as Parameters<typeof findKey>[0];
  expect([0, 1, 2].map(index => findKey(runs, index, 'a'))).toEqual(['k1', 'k1', 'k3']);
  expect([0, 2].map(index => findKey(runs, index, 'b'))).toEqual(['k2', 'k2']);
  expect(findKey(runs, 2, 'c')).toBeUndefined();
});
