/** What the engine records of a build, and when it records nothing. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadHistory } from '../../../src/engine/insight/history/history-file.js';
import type { RunRecord } from '../../../src/engine/insight/history/run-record.js';
import { findRunLog, findStageLog } from '../../../src/engine/insight/history/stage-log.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { cacheFolderAt } from '../../../src/engine/store/cache-folder.js';
import { givenWorld, type World } from '../../support/world.js';

let world: World;
afterEach(() => world.remove());

const LOG = 'cache/history/pipeline.log';
const runs = (): readonly RunRecord[] => (existsSync(world.path(LOG)) ? loadHistory(world.path(LOG)).runs : []);
const chain = {
  strip: { uses: 'strip', inputs: { text: 'in.txt' } },
  count: { uses: 'count', inputs: { text: 'strip.text' } },
};

describe('the history', () => {
  it('has a record of each build that changed something; a build with nothing to do writes none', async () => {
    world = givenWorld(chain, { 'in.txt': 'one\ntwo' });
    await world.build({}, { nowMs: () => Date.UTC(2026, 10, 21, 12) });
    const after = statSync(world.path(LOG));
    await world.build();
    expect(statSync(world.path(LOG))).toEqual(after);
    world.write('in.txt', 'one\ntwo\nthree');
    await world.build({ asked: { targets: ['count'], params: ['a=b'] }, failures: 'keep-going', jobs: 3 });

    const [first, second, ...others] = runs();
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      run: 'r1',
      conclusion: 'built',
      asked: { targets: [], params: [], force: false, keepGoing: false },
      upToDate: 0,
      criticalPath: ['strip', 'count'],
      stages: [
        { stage: 'strip', outcome: 'executed', reasons: ['never built'], attempts: 1 },
        { stage: 'count', outcome: 'executed', metrics: { lines: 2, 'nested.twice': 4 } },
      ],
    });
    expect(first?.started).toMatch(/^2026-11-21T1[12]:/);
    expect(second).toMatchObject({
      run: 'r2',
      asked: { targets: ['count'], params: ['a=b'], keepGoing: true, jobs: 3 },
      stages: [{ reasons: ['source in.txt changed'] }, { metrics: { lines: 3 } }],
    });
  });

  it('lists restored, failed and skipped stages, and up-to-date stages only if they have metrics', async () => {
    world = givenWorld(
      { ...chain, act: { uses: 'act', inputs: { text: 'other.txt' }, params: {} }, last: { uses: 'strip', inputs: { text: 'act.text' } } },
      { 'in.txt': 'one', 'other.txt': 'x' },
    );
    await world.build();
    world.write('other.txt', 'y');
    await world.build();
    world.write('other.txt', 'x');
    await world.build();
    world.stages = { ...world.stages, act: { uses: 'act', inputs: { text: 'other.txt' }, params: { end: 'throw' } } };
    const { outcomes } = await world.build();
    expect(outcomes).toMatchObject({ act: 'failed', last: 'skipped' });

    const [, second, third, fourth] = runs();
    expect(second).toMatchObject({ upToDate: 2, stages: [{ stage: 'count', outcome: 'up-to-date' }, { stage: 'act' }, { stage: 'last' }] });
    expect(third?.stages.map(({ outcome }) => outcome)).toEqual(['up-to-date', 'restored', 'restored']);
    expect(fourth).toMatchObject({
      conclusion: 'failed',
      stages: [
        {},
        { stage: 'act', outcome: 'failed', failure: { code: expect.any(String) } },
        { stage: 'last', outcome: 'skipped', because: 'act' },
      ],
    });
  });

  it('has gates with their values, and times within the build', async () => {
    const span = { file: 'pipeline.yaml', line: 1, column: 1, endLine: 1, endColumn: 1 };
    const gate = [{ metric: 'lines', operator: '>=', bound: 5, span }] as const;
    world = givenWorld({ count: { uses: 'count', inputs: { text: 'in.txt' }, gate } }, { 'in.txt': 'one' });
    await world.build();

    const [run] = runs();
    expect(run).toMatchObject({
      conclusion: 'gate-missed',
      gates: [{ stage: 'count', metric: 'lines', operator: '>=', bound: 5, value: 1, verdict: 'missed' }],
    });
    const spans = run?.stages[0]?.spans ?? [];
    expect(spans.map(({ what }) => what)).toEqual(expect.arrayContaining(['slot', 'run', 'store', 'publish']));
    for (const { atMs, durationMs } of spans) {
      expect(atMs).toBeGreaterThanOrEqual(0);
      expect(atMs + durationMs).toBeLessThanOrEqual((run?.durationMs ?? 0) + 1);
    }
    expect(readFileSync(world.path(LOG), 'utf8')).not.toContain(world.folder);
  });

  it('has the parts of a stage with whether they were kept, and the memory of its worker', async () => {
    world = givenWorld({ parts: { uses: 'parts', inputs: { text: 'in.txt' }, resources: { npu: 1 } } }, { 'in.txt': 'one\ntwo' });
    await world.build();
    world.write('in.txt', 'one\nthree');
    await world.build();

    const [first, second] = runs().map(run => run.stages[0]);
    const partsOf = (stage: typeof first): unknown => stage?.spans?.flatMap(({ part }) => part ?? []);
    expect(partsOf(first)).toEqual([
      { name: 'letters', answer: 'computed' },
      { name: 'letters', answer: 'computed' },
    ]);
    expect(partsOf(second)).toEqual([
      { name: 'letters', answer: 'kept' },
      { name: 'letters', answer: 'computed' },
    ]);
    expect(first?.peakBytes).toBeGreaterThan(10_000_000);
    expect(first?.peakBytes).toBeLessThan(1_000_000_000);
    expect(first?.pools).toEqual(['npu']);
  });

  it('gives the log of the run that made a result; for a failed run only the newest log', async () => {
    world = givenWorld(
      { count: { uses: 'count', inputs: { text: 'in.txt' } }, quiet: { uses: 'act', inputs: { text: 'in.txt' } } },
      { 'in.txt': 'one' },
    );
    const plan = await world.plan();
    const now = (stage: string): string | undefined => findStageLog(plan, stage as StageId);
    const at = (index: number, stage: string) => findRunLog(plan, cacheFolderAt(world.path('cache')), runs(), index, stage as StageId);
    const text = (lines: number) => ({ kind: 'text', text: `counted ${lines} lines\n` });
    await world.build();
    world.write('in.txt', 'one\ntwo');
    await world.build();
    world.write('in.txt', 'one');
    await world.build();
    expect([now('count'), at(0, 'count'), at(1, 'count'), at(2, 'count')]).toEqual(['counted 1 lines\n', text(1), text(2), text(1)]);
    expect([now('quiet'), at(1, 'quiet')]).toEqual([undefined, { kind: 'nothing' }]);

    const stages = world.stages;
    world.stages = { ...stages, quiet: { uses: 'act', inputs: { text: 'in.txt' }, params: { end: 'memory' } } };
    expect((await world.build()).outcomes.quiet).toBe('failed');
    expect(now('quiet')).toContain('out of memory');
    expect([at(3, 'quiet').kind, at(3, 'count')]).toEqual(['text', text(1)]);
    // A result that stands again takes the failed run's log away, though it wrote nothing itself.
    world.stages = stages;
    rmSync(world.path('artifacts'), { recursive: true });
    await world.build();
    expect([now('quiet'), at(3, 'quiet'), at(4, 'quiet')]).toEqual([undefined, { kind: 'not-kept' }, { kind: 'nothing' }]);

    rmSync(world.path('cache/actions'), { recursive: true });
    expect([at(1, 'count'), at(-1, 'count')]).toEqual([{ kind: 'not-kept' }, { kind: 'never-ran' }]);
  });

  it('that is damaged or cannot be written does not fail a build', async () => {
    world = givenWorld(chain, { 'in.txt': 'one' });
    await world.build();
    for (const damage of ['', 'no history', readFileSync(world.path(LOG), 'utf8').slice(0, -9)]) {
      world.write(LOG, damage);
      world.append('in.txt', '\nmore');
      expect(await world.build()).toMatchObject({ report: { conclusion: 'built' }, warnings: [] });
      expect(runs().map(({ run }) => run)).toEqual(['r1']);
    }
    rmSync(world.path(LOG));
    mkdirSync(world.path(LOG));
    world.write(join(LOG, 'notes.txt'), 'mine');
    world.append('in.txt', '\nmore');
    expect(await world.build()).toMatchObject({ report: { conclusion: 'built' }, warnings: ['cache-write-failed'] });
  });

  it('has no record of a build that was cancelled before it started', async () => {
    world = givenWorld(chain, { 'in.txt': 'one' });
    const { outcomes } = await world.build({}, { signal: AbortSignal.abort() });
    expect(outcomes).toEqual({ strip: 'cancelled', count: 'cancelled' });
    expect(runs()).toEqual([]);
  });
});
