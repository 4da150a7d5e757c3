/** The timing of a run: critical path, shares, waits and parts. */
import { formatTiming } from '../../../../../src/cli/render/timing-report.js';
import { findCriticalPath } from '../../../../../src/engine/insight/history/find-critical-path.js';
import type { RunSpan } from '../../../../../src/engine/insight/history/run-record.js';
import { computeTiming } from '../../../../../src/engine/insight/history/timing.js';
import { ranStage, runOf } from '../../../../support/run-of.js';
import { makeTextConsole } from '../../../../support/text-console.js';

const span = (what: RunSpan['what'], atMs: number, durationMs: number, answer?: 'kept' | 'computed'): RunSpan => ({
  what,
  atMs,
  durationMs,
  ...(answer === undefined ? {} : { part: { name: 'sketch', answer } }),
});

describe('the critical path', () => {
  it('goes from the stage that ended last back along the last-ended dependencies', () => {
    const ended = (stage: string, endedMs: number, ...dependsOn: readonly string[]) => ({ stage, endedMs, dependsOn });
    expect(
      findCriticalPath([ended('a', 10), ended('b', 30), ended('c', 40, 'a', 'b'), ended('d', 35, 'a'), ended('e', 20, 'not run')]),
    ).toEqual(['b', 'c']);
    expect(findCriticalPath([])).toEqual([]);
  });
});

describe('the timing of a run', () => {
  const run = runOf({
    durationMs: 2000,
    stages: [
      ranStage('calibrate', {
        spans: [span('look', 0, 100), span('slot', 100, 900), span('part', 200, 300, 'kept'), span('part', 300, 400, 'computed')],
      }),
      ranStage('bench', { waitedMs: 800, pools: ['npu'], spans: [span('slot', 1000, 500)] }),
      ranStage('other', { durationMs: 50 }),
      { stage: 'gone', outcome: 'restored', spans: [span('look', 0, 10)] },
    ],
    criticalPath: ['calibrate', 'bench'],
  });

  it('has shares of the whole, waits by pool, and parts', () => {
    const { criticalPath, criticalShare, slowest, waits, parts } = computeTiming(run);
    expect(criticalPath.map(({ stage, durationMs, share }) => [stage, durationMs, share])).toEqual([
      ['calibrate', 1000, 0.5],
      ['bench', 500, 0.25],
    ]);
    expect(criticalShare).toBe(0.75);
    expect(slowest.map(({ stage, durationMs }) => [stage, durationMs])).toEqual([
      ['calibrate', 1000],
      ['bench', 500],
      ['other', 50],
    ]);
    expect(waits).toEqual([{ stage: 'bench', pools: ['npu'], waitedMs: 800 }]);
    expect(parts).toEqual([{ stage: 'calibrate', part: 'sketch', kept: 1, computed: 1, dropped: 0, durationMs: 500 }]);
  });

  it('is printed in a few lines', () => {
    expect(formatTiming(computeTiming(run), makeTextConsole())).toEqual([
      'critical path: 75 % of the time',
      '  calibrate   50 %  executed in 1.0 s',
      '  bench       25 %  executed in 500 ms, after 800 ms of waiting',
      'stages that ran, the slowest first',
      '  calibrate   50 %  executed in 1.0 s',
      '  bench       25 %  executed in 500 ms, after 800 ms of waiting',
      '  other        3 %  executed in 50 ms',
      '1 stage waited for slots: 800 ms in total',
      '  bench: 800 ms (npu)',
      'parts',
      '  calibrate: sketch: 1 kept, 1 computed in 500 ms',
    ]);
  });
});
