/** The figures at the end of a build. */

import type { JsonObject } from '../../../src/base/json.js';
import { formatHeadlines, type StageColumn } from '../../../src/cli/render/headline-report.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import type { Headline } from '../../../src/stage/headline.js';
import { planWith } from '../../support/report-of.js';

const AP: readonly Headline[] = [
  { metric: 'bbox.AP', label: 'box AP' },
  { metric: 'segm.AP', label: 'mask AP' },
];
const NPU: readonly Headline[] = [
  { metric: 'total.npuMacShare', label: 'share on the NPU', unit: 'share' },
  { metric: 'total.estimatedMs', label: 'estimate', unit: 'ms' },
];

function column(id: string, metrics: JsonObject, headlines?: readonly Headline[], previous?: JsonObject): StageColumn {
  const planned = planWith({ [id]: { uses: 'judge' } }).stages.get(id as StageId);
  if (planned === undefined) throw new Error('no stage');
  const plugin = { ...planned.plugin.plugin, ...(headlines === undefined ? {} : { headlines }) };
  return { planned: { ...planned, plugin: { ...planned.plugin, plugin } }, column: { stage: id, metrics, previous } };
}

const MANY = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`x${index}`, index]));
const linesOf = (...args: Parameters<typeof formatHeadlines>): readonly string[] =>
  formatHeadlines(...args).blocks.flatMap(({ head, rows }) => (head === undefined ? rows : [head, ...rows]));

describe('the figures at the end of a build', () => {
  it('are the headlines of each plugin: stages of one plugin side by side, single stages in one list', () => {
    const float = column('float', { bbox: { AP: 0.6804, AP50: 0.9 }, segm: { AP: 0.5 } }, AP);
    const int8 = column('int8', { bbox: { AP: 0.6748, AP50: 0.8 }, delta: { bbox: { AP: -0.0056 } } }, AP, { bbox: { AP: 0.67 } });
    const compiled = column('compile', { total: { npuMacShare: 0.98765, estimatedMs: 12.2033 } }, NPU);

    expect(linesOf([[float, int8], [compiled]], 80)).toEqual([
      '         float   int8',
      'box AP   0.6804  0.6748 (−0.0056) was 0.6700',
      'mask AP  0.5000',
      'share on the NPU  98.8 %   compile',
      'estimate          12.2 ms  compile',
    ]);
  });

  it('have a text behind each label where the terminal is too narrow for a table, and leave out changes too small to show', () => {
    const previous = { total: { npuMacShare: 0.9, estimatedMs: 12.20331 } };
    const compiled = column('compile-for-the-board', { total: { npuMacShare: 0.98765, estimatedMs: 12.2033 } }, NPU, previous);
    expect(linesOf([[compiled]], 56)).toEqual([
      'share on the NPU  98.8 % was 90 %  compile-for-the-board',
      'estimate          12.2 ms          compile-for-the-board',
    ]);
    expect(linesOf([[compiled]], 55)).toEqual([
      'share on the NPU  98.8 % was 90 %',
      '                  (compile-for-the-board)',
      'estimate          12.2 ms (compile-for-the-board)',
    ]);
  });

  it.each([
    [1, '100 %'],
    [0.99999, '99.9+ %'],
    [0.00001, '<0.1 %'],
    [0, '0 %'],
  ])('give the share %d as %s', (npuMacShare, text) => {
    expect(linesOf([[column('c', { total: { npuMacShare } }, NPU)]], 80)).toEqual([`share on the NPU  ${text}  c`]);
  });

  it('are the first ones of a plugin that names no headlines, and none of one that names none of its own', () => {
    const report = formatHeadlines([[column('a', MANY)], [column('b', MANY, [])]], 80);
    expect(report.blocks.map(({ rows }) => rows.length)).toEqual([8]);
    expect(report.omitted).toBe(4 + 12);
  });

  it('are the first ones of a plugin without headlines of its own if there is nothing else', () => {
    expect(formatHeadlines([[column('b', MANY, [])]], 80).blocks.map(({ rows }) => rows.length)).toEqual([8]);
  });
});
