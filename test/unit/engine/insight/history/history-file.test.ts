/** The history file survives damage and stays small. */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendRun, followHistory, KEPT_BYTES, loadHistory, MOST_BYTES } from '../../../../../src/engine/insight/history/history-file.js';
import type { RunRecord } from '../../../../../src/engine/insight/history/run-record.js';
import { ranStage, runOf } from '../../../../support/run-of.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-history-'));
  path = join(folder, 'history/pipeline.log');
});
afterEach(() => rmSync(folder, { recursive: true }));

const full: RunRecord = runOf({
  revision: { commit: 'a'.repeat(40), branch: 'main' },
  params: { preset: 'xint8', list: [1, 'two'] },
  conclusion: 'failed',
  stages: [
    ranStage('one', {
      key: 'k',
      reasons: ['never built'],
      waitedMs: 2.5,
      attempts: 2,
      peakBytes: 1_000_000,
      metrics: { 'bbox.AP': 0.5 },
      spans: [
        { what: 'run', atMs: 1.5, durationMs: 8 },
        { what: 'part', atMs: 2, durationMs: 3, part: { name: 'sketch', answer: 'kept' } },
      ],
    }),
    { stage: 'two', outcome: 'failed', failure: { code: 'x', message: 'it broke' } },
    { stage: 'three', outcome: 'skipped', because: 'two' },
  ],
  upToDate: 4,
  gates: [{ stage: 'one', metric: 'bbox.AP', operator: '>=', bound: 0.6, value: 0.5, verdict: 'missed' }],
  criticalPath: ['one', 'two'],
});

describe('the history', () => {
  it('returns the written runs, numbered from 1', () => {
    for (const name of ['a', 'b', 'c']) appendRun(path, { ...full, params: { name } });
    const { runs, damagedLines } = loadHistory(path);

    expect(damagedLines).toBe(0);
    expect(runs.map(({ run, params }) => [run, params.name])).toEqual([
      ['r1', 'a'],
      ['r2', 'b'],
      ['r3', 'c'],
    ]);
    expect(runs[0]).toEqual({ ...full, run: 'r1', params: { name: 'a' } });
  });

  it('has the dropped spans of a run under the former name of the field', () => {
    const former = { ...full, spansLeftOut: 3 };
    appendRun(path, former);
    expect(readFileSync(path, 'utf8')).toContain('"spansLeftOut":3');
    expect(loadHistory(path)).toMatchObject({ damagedLines: 0, runs: [{ droppedSpans: 3 }] });
  });

  it('is empty if there is no file', () => {
    expect(loadHistory(path)).toEqual({ runs: [], damagedLines: 0 });
  });

  it('cut at any byte gives whole runs and nothing else, and is written on without damage', () => {
    appendRun(path, full);
    appendRun(path, full);
    const whole = readFileSync(path);
    for (let length = 0; length < whole.length; length += length < 40 ? 1 : 7) {
      writeFileSync(path, whole.subarray(0, length));
      const { runs } = loadHistory(path);
      for (const run of runs) expect({ ...run, run: 'r1' }).toEqual(full);
      if (length % 11 !== 0) continue;
      const name = appendRun(path, full);
      expect(name).toBe(`r${runs.length + 1}`);
      expect(loadHistory(path)).toMatchObject({ damagedLines: 0, runs: { length: runs.length + 1 } });
    }
  });

  it('with a changed byte leaves that run out, and is written on', () => {
    for (let count = 0; count < 3; count++) appendRun(path, full);
    const bytes = readFileSync(path);
    bytes[Math.floor(bytes.length / 2)] = 88;
    writeFileSync(path, bytes);
    expect(loadHistory(path)).toMatchObject({ damagedLines: 1, runs: [{ run: 'r1' }, { run: 'r3' }] });

    expect(appendRun(path, full)).toBe('r4');
    expect(loadHistory(path)).toMatchObject({ damagedLines: 1, runs: [{ run: 'r1' }, { run: 'r3' }, { run: 'r4' }] });

    const torn = readFileSync(path);
    torn[torn.length - 5] = 88;
    writeFileSync(path, torn);
    expect(appendRun(path, full)).toBe('r4');
    expect(loadHistory(path)).toMatchObject({ damagedLines: 0, runs: [{ run: 'r1' }, { run: 'r3' }, { run: 'r4' }] });
  });

  it('of a newer version is left out, and stays as it is', () => {
    appendRun(path, full);
    const newer = readFileSync(path, 'utf8').replace('tanren-history 1', 'tanren-history 9');
    writeFileSync(path, newer);
    expect(loadHistory(path)).toEqual({ runs: [], damagedLines: 1 });
    expect(appendRun(path, full)).toBeUndefined();
    expect(readFileSync(path, 'utf8')).toBe(newer);
  });

  it.each(['tanren-history 0\n', 'tanren-histori 9\n', 'tanren-history 9'])('with the damaged header %j is begun anew', header => {
    appendRun(path, full);
    writeFileSync(path, readFileSync(path, 'utf8').replace('tanren-history 1\n', header));
    expect(appendRun(path, full)).toBe('r1');
    expect(loadHistory(path)).toMatchObject({ damagedLines: 0, runs: { length: 1 } });
  });

  it('drops its oldest runs if it grows too large, and never the newest', () => {
    const large = runOf({ params: { text: 'é'.repeat(MOST_BYTES / 16) } });
    for (let count = 0; count < 9; count++) appendRun(path, large);
    const names = loadHistory(path).runs.map(({ run }) => run);
    expect(names.at(-1)).toBe('r9');
    expect(names.length).toBeLessThan(8);
    expect(statSync(path).size).toBeLessThan(KEPT_BYTES + MOST_BYTES / 8);

    appendRun(path, runOf({ params: { text: 'x'.repeat(MOST_BYTES) } }));
    expect(loadHistory(path).runs.map(({ run }) => run)).toEqual(['r10']);
    expect(existsSync(`${path}.tmp`)).toBe(false);
  });

  it('ignores invalid fields of a line with a valid checksum', () => {
    appendRun(path, { ...full, durationMs: -1 });
    appendRun(path, { ...full, stages: [{ stage: 'x', outcome: 'exploded' as 'executed' }] });
    appendRun(path, full);
    expect(loadHistory(path)).toMatchObject({ damagedLines: 2, runs: { length: 1 } });
  });

  it('followed run by run is what a whole read gives, also after damage, and after the oldest runs were dropped', () => {
    const read = followHistory(path);
    expect(read()).toEqual([]);
    const large = runOf({ params: { text: 'é'.repeat(MOST_BYTES / 16) } });
    for (let count = 0; count < 9; count++) {
      appendRun(path, count % 2 === 0 ? large : full);
      expect(read()).toEqual(loadHistory(path).runs);
    }
    const kept = read();
    expect(read()).toBe(kept);
    appendFileSync(path, 'damaged\n');
    expect(read()).toEqual(loadHistory(path).runs);
    appendRun(path, full);
    expect(read()).toEqual(loadHistory(path).runs);
    expect(kept.length).toBeGreaterThan(0);
    rmSync(path);
    expect(read()).toEqual([]);
  });
});
