/** What is known of stages while a build runs. */
import { keyOf } from '../../../src/engine/action/manifest.js';
import type { Explanation } from '../../../src/engine/insight/explain/explain-stages.js';
import type { RunningBuild } from '../../../src/web/project/running-build.js';
import { type EarlierLook, withEnded } from '../../../src/web/project/stages-after-look.js';

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

const look: EarlierLook = { explained, lookedMs: 0, editedMs: 0, keys: new Map(), fresh: new Set() };

const explainedAfter = (change: Partial<EarlierLook>) => withEnded({ ...look, ...change }, build).explained;

/** Of a stage that a look during its run found stale, with the manifest of the edited files. */
const manifest = { params: { percentile: 99 } };

describe('stages of a running build', () => {
  it('are up to date once they have their result, and as before until then', () => {
    const now = explainedAfter({ lookedMs: 3 });
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
    const now = explainedAfter({ lookedMs: 6 });
    expect([...now.values()].map(({ status }) => status.kind)).toEqual(['stale', 'stale', 'stale', 'up-to-date', 'stale']);
  });

  it('are all as before without a build', () => {
    expect([...withEnded({ ...look, lookedMs: 3 }, undefined).explained.values()]).toEqual([...explained.values()]);
  });

  describe('while files are edited', () => {
    const known = new Map([...explained].map(([id, one]) => [id, id === 'd' ? { ...one, manifest } : one]));
    const endedWith = (keys: EarlierLook['keys'], plannedMs: number) =>
      withEnded({ ...look, explained: known, lookedMs: 7, editedMs: 7, keys }, { ...build, plannedMs });

    it('are out of date if their result is not that of the present files', () => {
      const { explained: now, unclear } = endedWith(new Map([['d', 'the key of the former params']]), 1);
      expect(now.get('d' as Explanation['stage'])?.status.kind).toBe('stale');
      // What a measured stage adds to its key is known by another look only.
      expect(unclear).toBe(true);
    });

    it('are up to date if their result is that of the present files', () => {
      const { explained: now, unclear } = endedWith(new Map([['d', keyOf(manifest)]]), 1);
      expect([now.get('d' as Explanation['stage'])?.status.kind, unclear]).toEqual(['up-to-date', false]);
    });

    it('are up to date once their result is accepted, though the journal still has them running', () => {
      const run = { ...build, plannedMs: 1, stages: { d: { state: 'running' as const } } };
      const found = (key: string, fresh: readonly string[]) =>
        withEnded(
          { ...look, explained: known, lookedMs: 7, editedMs: 7, keys: new Map([['d', key]]), fresh: new Set(fresh) },
          run,
        ).explained.get('d' as Explanation['stage'])?.status.kind;
      expect([found(keyOf(manifest), ['d']), found(keyOf(manifest), []), found('another', ['d'])]).toEqual([
        'up-to-date',
        'stale',
        'stale',
      ]);
    });

    it('are up to date if the build was planned after the edit, as a watch does', () => {
      const { explained: now, unclear } = endedWith(new Map(), 8);
      expect([now.get('d' as Explanation['stage'])?.status.kind, unclear]).toEqual(['up-to-date', false]);
    });

    it('are up to date if the result was accepted after the look had begun, and the key is that of the present files', () => {
      const one = { ...look, explained: known, lookedMs: 10, editedMs: 9, keys: new Map([['d', keyOf(manifest)]]) };
      const { explained: now } = withEnded(one, { ...build, plannedMs: 1 });
      expect(now.get('d' as Explanation['stage'])?.status.kind).toBe('up-to-date');
    });

    it('are looked at again if they could not be pinned when the files were looked at', () => {
      const { unclear } = withEnded({ ...look, lookedMs: 7, editedMs: 7 }, { ...build, plannedMs: 1 });
      expect(unclear).toBe(true);
    });
  });
});
