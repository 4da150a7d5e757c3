/** Saved baselines are read as they were written, and other files are rejected. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { baselinePath, checkBaselineName, readBaseline, writeBaseline } from '../../../../../src/engine/insight/history/baseline.js';
import type { Snapshot } from '../../../../../src/engine/insight/history/snapshot.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-baseline-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const snapshot: Snapshot = {
  name: 'now',
  params: { preset: 'xint8' },
  stages: new Map([
    [
      'evaluate',
      {
        params: { a: [1] },
        metrics: { kind: 'known', values: { 'bbox.AP': 0.5 } },
        gates: [{ stage: 'evaluate', metric: 'bbox.AP', operator: '>=', bound: 0.4, value: 0.5, verdict: 'met' }],
      },
    ],
    ['export', { params: undefined, metrics: { kind: 'none' }, gates: [] }],
  ]),
  others: 'absent',
  notes: [],
};

describe('a baseline', () => {
  it('is read as it was written, and equal figures give an equal file', () => {
    const path = baselinePath({ projectFolder: folder, pipeline: 'x' }, 'float');
    expect(path).toBe(join(folder, 'baselines/x/float.json'));
    writeBaseline(path, snapshot);
    const text = readFileSync(path, 'utf8');
    expect(readBaseline(path, 'float')).toEqual({ ...snapshot, name: 'baseline float' });
    writeBaseline(path, snapshot);
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(text).not.toMatch(/20\d\d-|\/tmp/);
  });

  it('is undefined if the file does not exist', () => {
    expect(readBaseline(join(folder, 'no.json'), 'no')).toBeUndefined();
  });

  it.each([
    '',
    '{',
    '[]',
    '{"format": 2, "params": {}, "stages": {}}',
    '{"format": 1, "params": {}, "stages": {"a": {"metrics": {"x": "text"}, "gates": []}}}',
  ])('is refused where it is %p', text => {
    const path = join(folder, 'bad.json');
    writeFileSync(path, text);
    expect(() => readBaseline(path, 'bad')).toThrow(expect.objectContaining({ code: 'baseline-malformed' }));
  });

  it.each(['', '../x', 'a/b', 'a..b', 'r41', 'last', 'last~2', 'now', '.hidden', 'a b'])('cannot be called %p', name => {
    expect(() => checkBaselineName(name)).toThrow(expect.objectContaining({ code: 'bad-baseline-name' }));
  });
});
