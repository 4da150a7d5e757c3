/** What is known of stages while a build runs. */
import type { Explanation } from '../../../src/engine/insight/explain/explain-stages.js';
import { type RunningBuild, withEnded } from '../../../src/web/project/running-build.js';

const explained = new Map(
  ['a', 'b', 'c', 'd', 'e'].map(stage => [
    stage as Explanation['stage'],
    {
      stage: stage as Explanation['stage'],
      status: { kind: 'stale', reasons: ['x changed'], changes: [], after: [] },
      lastBuilt: 'before',
      manifest: undefined,
      cached: { key: 'k', outputs: {} } as unknown as Explanation['cached'],
      device: undefined,
      causes: [],
    } satisfies Explanation,
  ]),
);

const build: RunningBuild = {
  state: 'running',
  command: 'build',
  pid: 1,
  startedMs: 0,
  pending: [],
  stages: {
    a: { state: 'executed', endedMs: 5 },
    b: { state: 'running' },
    c: { state: 'failed', endedMs: 6 },
    d: { state: 'restored', endedMs: 8 },
  },
};

describe('stages of a running build', () => {
  it('are up to date once they have their result, and as before until then', () => {
    const now = withEnded(explained, build, 3);
    expect([...now].map(([id, { status }]) => `${id} ${status.kind}`)).toEqual([
      'a up-to-date',
      'b stale',
      'c stale',
      'd up-to-date',
      'e stale',
    ]);
    // What the cache would restore is no result of a stage that has one.
    expect([...now.values()].map(({ cached }) => cached !== undefined)).toEqual([false, true, true, false, true]);
  });

  it('that ended before the last look at all are as it found them: an edit made them stale again', () => {
    const now = withEnded(explained, build, 6);
    expect([...now.values()].map(({ status }) => status.kind)).toEqual(['stale', 'stale', 'stale', 'up-to-date', 'stale']);
  });

  it('are all as before without a build', () => {
    expect([...withEnded(explained, undefined, 3).values()]).toEqual([...explained.values()]);
  });
});
