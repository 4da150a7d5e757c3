/** The forecast of the remaining time from known durations; no forecast if a duration is unknown. */
import { describeAbout, trackTimeLeft } from '../../../../../src/cli/render/time-left.js';
import { forecast } from '../../../../../src/engine/insight/history/forecast.js';
import type { BuildEvent } from '../../../../../src/engine/model/events.js';
import type { Outlook, Task } from '../../../../../src/engine/model/outlook.js';
import type { StageId } from '../../../../../src/engine/model/plan.js';

const task = (
  stage: string,
  expectedMs: number | undefined,
  dependsOn: readonly string[] = [],
  units: Task['units'] = { cpu: 1 },
): Task => ({
  stage,
  dependsOn,
  units,
  expectedMs,
});
const outlook = (cpu: number, ...tasks: readonly Task[]): Outlook => ({ tasks, capacity: { cpu } });
const none: ReadonlySet<string> = new Set();

describe('the forecast', () => {
  it('is the longest chain with enough slots, and the total work per slot otherwise', () => {
    const tasks = [task('a', 10), task('b', 20, ['a']), task('c', 25), task('d', 5, ['elsewhere'])];
    expect(forecast(outlook(4, ...tasks), none)).toBe(30);
    expect(forecast(outlook(1, ...tasks), none)).toBe(60);
  });

  it('counts the units of every pool; a pool without a size has one unit', () => {
    const npu = { cpu: 1, npu: 1 };
    expect(forecast(outlook(8, task('a', 10, [], npu), task('b', 10, [], npu)), none)).toBe(20);
    expect(forecast(outlook(4, task('a', 10, [], { cpu: 99 }), task('b', 10, [], { cpu: 2 })), none)).toBe(15);
  });

  it('excludes ended stages, and the elapsed time of running stages', () => {
    const both = outlook(2, task('a', 10), task('b', 20, ['a']));
    expect(forecast(both, new Set(['a']))).toBe(20);
    expect(forecast(both, new Set(['a']), new Map([['b', 15]]))).toBe(5);
    expect(forecast(both, new Set(['a']), new Map([['b', 24]]))).toBe(0);
    expect(forecast(both, new Set(['a', 'b']))).toBe(0);
  });

  it('is undefined if a stage has never run, or runs much longer than before', () => {
    expect(forecast(outlook(2, task('a', 10), task('b', undefined)), none)).toBeUndefined();
    expect(forecast(outlook(2, task('a', 10_000)), none, new Map([['a', 14_000]]))).toBeUndefined();
    expect(forecast(outlook(2, task('a', 10), task('b', undefined)), new Set(['b']))).toBe(10);
  });
});

describe('the time left', () => {
  const started = (stage: string): BuildEvent => ({ kind: 'stage-started', stage: stage as StageId, reasons: [], attempt: 1 });
  const ended = (stage: string): BuildEvent => ({ kind: 'outcome', stage: stage as StageId, outcome: { kind: 'up-to-date' } });

  it('follows the build by the clock that it is given', () => {
    const left = trackTimeLeft();
    expect(left.describe(0)).toBeUndefined();
    left.update({ kind: 'outlook', outlook: outlook(1, task('a', 60_000), task('b', 120_000, ['a']), task('c', undefined)) }, 0);
    expect(left.describe(0)).toBeUndefined();
    left.update(ended('c'), 1000);
    left.update(started('a'), 1000);
    expect(left.describe(1000)).toBe('about 3 min left');
    expect(left.describe(1100)).toBe('about 3 min left');
    expect(left.describe(41_000)).toBe('about 2 min left');
    left.update(ended('a'), 50_000);
    left.update(started('b'), 50_000);
    expect(left.describe(110_000)).toBe('about 60 s left');
    expect(left.describe(168_000)).toBeUndefined();
    left.update(ended('b'), 169_000);
    expect(left.describe(169_000)).toBeUndefined();
  });

  it.each([
    [4_999, undefined],
    [5_000, '5 s'],
    [62_000, '60 s'],
    [87_400, '85 s'],
    [88_000, '1 min'],
    [3_540_000, '59 min'],
    [5_400_000, '1 h 30 min'],
    [7_200_000, '2 h'],
  ])('of %d ms is said as %s', (durationMs, text) => {
    expect(describeAbout(durationMs)).toBe(text);
  });
});
