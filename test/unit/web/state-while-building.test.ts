/** The state of a stage on the page while a build runs. */

import { stateOf } from '../../../src/web/page/builds/state-while-building.js';
import type { RunningBuild, RunningStage } from '../../../src/web/project/running-build.js';

const building = (own: RunningStage, state: RunningBuild['state'] = 'running'): RunningBuild => ({
  state,
  command: '',
  pid: 1,
  startedMs: 0,
  pending: [{ stage: 'a' }, { stage: 'b' }],
  stages: { a: own },
});

describe('while a build runs', () => {
  it.each([
    'failed',
    'skipped',
    'cancelled',
  ] as const)('a stage that is %s keeps that state, though its files are read again and out of date', ended => {
    expect(stateOf({ id: 'a', state: 'stale' }, 200, building({ state: ended, endedMs: 100 }))).toBe(ended);
  });

  it.each(['executed', 'restored', 'up-to-date'] as const)('a stage that is %s and out of date afterwards was edited', ended => {
    expect(stateOf({ id: 'a', state: 'stale' }, 200, building({ state: ended, endedMs: 100 }))).toBe('stale');
    // Read before the stage ended.
    expect(stateOf({ id: 'a', state: 'stale' }, 50, building({ state: ended, endedMs: 100 }))).toBe(ended);
  });

  it('a stage that runs does, and one that may run waits', () => {
    const build = building({ state: 'running' });
    expect(stateOf({ id: 'a', state: 'stale' }, 200, build)).toBe('running');
    expect(stateOf({ id: 'b', state: 'stale' }, 200, build)).toBe('waiting');
    expect(stateOf({ id: 'c', state: 'up-to-date' }, 200, build)).toBe('up-to-date');
  });
});

it('after a build a failed stage has failed until its files are up to date again', () => {
  const build = building({ state: 'failed', endedMs: 100 }, 'ended');
  expect(stateOf({ id: 'a', state: 'stale' }, 200, build)).toBe('failed');
  expect(stateOf({ id: 'a', state: 'up-to-date' }, 200, build)).toBe('up-to-date');
});
