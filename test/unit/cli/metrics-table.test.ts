/** The table that shows metrics of stages side by side, and the number format of metrics. */
import { formatMetric } from '../../../src/cli/render/format-metric.js';
import { formatMetricsTable } from '../../../src/cli/render/metrics-table.js';
import { flattenMetrics } from '../../../src/engine/model/metrics.js';

const lines = (...args: Parameters<typeof formatMetricsTable>): readonly string[] =>
  formatMetricsTable(...args).flatMap(({ head, rows }) => [head, ...rows]);

describe('the metrics table', () => {
  it('has one row per metric and one column per stage, with the difference from the baseline next to the value', () => {
    expect(
      lines([
        { stage: 'float', metrics: { bbox: { AP: 0.68, AP50: 0.9 }, images: 200 }, previous: undefined },
        { stage: 'int8', metrics: { bbox: { AP: 0.6775 }, images: 200, delta: { bbox: { AP: -0.0025 }, images: 0 } }, previous: undefined },
      ]),
    ).toEqual([
      '           float   int8', //
      'bbox.AP    0.6800  0.6775 (−0.0025)',
      'bbox.AP50  0.9000',
      'images     200     200 (+0)',
    ]);
  });

  it('shows the value of the last build if it was different', () => {
    expect(lines([{ stage: 'a', metrics: { x: 0.5, y: 2 }, previous: { x: 0.25, y: 2 } }])).toEqual([
      '   a',
      'x  0.5000 was 0.2500',
      'y  2',
    ]);
  });

  it('shows the spread of a measured figure, and which differences lie within it', () => {
    const measured = (ms: number, spread: number) => ({ net: { ms }, spread: { net: { ms: spread } } });
    const row = (now: number, before: number): string | undefined =>
      lines([{ stage: 'a', metrics: measured(now, 0.25), previous: measured(before, 0.5) }])[1];
    expect(row(3.5, 2.75)).toBe('net.ms  3.5000 ±0.2500 was 2.7500, within the spread');
    expect(row(3.5, 2.5)).toBe('net.ms  3.5000 ±0.2500 was 2.5000');
  });

  it('omits metrics deeper than two levels, and delta metrics', () => {
    expect(lines([{ stage: 'a', metrics: { x: { y: { z: 1 } }, delta: { q: 1 } }, previous: undefined }])).toEqual(['  a']);
  });

  it('counts the levels of the document: a name with dots is one', () => {
    const iou = { 'no. 5': 0.5, 'a.b.c': 0.25 };
    const metrics = { iou, 'x.y.z': 1, delta: { iou: { 'no. 5': -0.125 } }, values: { 'a.b': { sqnrDb: 30 } } };
    expect(lines([{ stage: 'a', metrics, previous: { iou: { 'no. 5': 0.75 } } }])).toEqual([
      '           a',
      'iou.no. 5  0.5000 (−0.1250) was 0.7500',
      'iou.a.b.c  0.2500',
      'x.y.z      1',
    ]);
  });

  it('splits columns into blocks on a narrow terminal; each block repeats the names and fits the width', () => {
    const column = (stage: string) => ({ stage, metrics: { 'a long name': 1.5 }, previous: undefined });
    const cut = lines([column('first'), column('second'), column('third')], 30);

    expect(cut).toEqual(['             first   second', 'a long name  1.5000  1.5000', '             third', 'a long name  1.5000']);
    for (const line of cut) expect(line.length).toBeLessThanOrEqual(30);
    expect(lines([column('first'), column('second')], 1)).toHaveLength(4);
  });

  it('leaves a cell empty if a stage lacks the metric', () => {
    expect(
      lines([
        { stage: 'a', metrics: { x: 1 }, previous: undefined },
        { stage: 'b', metrics: { y: 2 }, previous: undefined },
      ]),
    ).toEqual(['   a  b', 'x  1', 'y     2']);
  });
});

describe('metrics', () => {
  it('are flattened to dotted paths in document order; only numbers are kept', () => {
    expect([...flattenMetrics({ b: { c: 1, d: 'text' }, a: 2, list: [3] })]).toEqual([
      ['b.c', 1],
      ['a', 2],
    ]);
  });

  it.each([
    [0, '0'],
    [200, '200'],
    [0.67914, '0.6791'],
    [-0.5, '-0.5000'],
    [0.00012, '1.20e-4'],
    [1234567.5, '1.23e+6'],
  ])('%p is written %s', (value, text) => expect(formatMetric(value)).toBe(text));
});
