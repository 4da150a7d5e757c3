/** An incremental build does exactly the missing part. */
import { existsSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { describeChange } from '../../../src/engine/action/changes.js';
import { explainStage } from '../../../src/engine/insight/explain/explain-stages.js';
import { examineStages } from '../../../src/engine/insight/status/status.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { gate } from '../../support/plan-of.js';
import type { World } from '../../support/world.js';
import { givenWorld } from '../../support/world.js';

const CHAIN = {
  strip: { uses: 'strip', inputs: { text: 'source.txt' } },
  count: { uses: 'count', inputs: { text: 'strip.text' } },
  other: { uses: 'act', inputs: { text: 'side.txt' } },
};
const SOURCES = { 'source.txt': 'one\n# comment\ntwo', 'side.txt': 'other' };

let world: World;
beforeEach(() => {
  world = givenWorld(CHAIN, SOURCES);
});
afterEach(() => world.remove());

/** The kind of status per stage. */
const kindsOf = (status: Awaited<ReturnType<typeof examineStages>>): Record<string, string> =>
  Object.fromEntries([...status].map(([id, examined]) => [id, examined.status.kind]));

describe('a second build', () => {
  it('runs nothing, and changes nothing on disk', async () => {
    const first = await world.build();
    const second = await world.build();
    const files = snapshot(world.folder);
    const third = await world.build();

    expect(first.outcomes).toEqual({ strip: 'executed', count: 'executed', other: 'executed' });
    for (const { outcomes } of [second, third]) expect(outcomes).toEqual({ strip: 'up-to-date', count: 'up-to-date', other: 'up-to-date' });
    expect(snapshot(world.folder)).toEqual(files);
    expect(world.read('artifacts/count/text')).toBe('2\n');
  });

  it('runs nothing after a touch', async () => {
    await world.build();
    utimesSync(world.path('source.txt'), 1, 1);

    expect((await world.build()).outcomes).toEqual({ strip: 'up-to-date', count: 'up-to-date', other: 'up-to-date' });
  });

  it('notices an edit that keeps size and time', async () => {
    await world.build();
    const time = new Date(1_700_000_000_000);
    utimesSync(world.path('source.txt'), time, time);
    await world.build();
    world.write('source.txt', 'eno\n# comment\ntwo');
    utimesSync(world.path('source.txt'), time, time);

    expect((await world.build()).outcomes.strip).toBe('executed');
    expect(world.read('artifacts/strip/text')).toBe('ENO\nTWO');
  });
});

describe('an edit', () => {
  it('runs the affected stages, and no others', async () => {
    await world.build();
    world.append('source.txt', '\nthree');

    expect((await world.build()).outcomes).toEqual({ strip: 'executed', count: 'executed', other: 'up-to-date' });
    expect(world.read('artifacts/count/text')).toBe('3\n');
  });

  it('that does not change the output bytes of a stage does not run its dependents (early cutoff)', async () => {
    await world.build();
    world.write('source.txt', 'one\n# another comment\ntwo');

    expect((await world.build()).outcomes).toEqual({ strip: 'executed', count: 'up-to-date', other: 'up-to-date' });
  });

  it('that is reverted restores the earlier result', async () => {
    await world.build();
    world.write('source.txt', 'one');
    await world.build();
    world.write('source.txt', SOURCES['source.txt']);

    expect((await world.build()).outcomes).toMatchObject({ strip: 'restored', count: 'restored' });
    expect(world.read('artifacts/count/text')).toBe('2\n');
  });

  it('of a parameter runs the stage that uses it', async () => {
    await world.build();
    world.stages = { ...CHAIN, count: { ...CHAIN.count, params: { factor: 10 } } };

    expect((await world.build()).outcomes).toEqual({ strip: 'up-to-date', count: 'executed', other: 'up-to-date' });
    expect(world.read('artifacts/count/text')).toBe('20\n');
  });

  it('of a file that a third-party plugin imports runs that plugin', async () => {
    await world.build();
    world.append('plugins/shout.mjs', '\nexport const added = 1;\n');

    const outcomes = (await world.build()).outcomes;
    expect(outcomes.strip).toBe('executed');
    expect(outcomes.count).toBe('executed');
  });

  it('of the declared environment runs the stage, and of any other variable does not', async () => {
    world.stages = { act: { uses: 'act', params: { env: 'WANTED' }, env: ['WANTED'] } };
    world.environment = { ...world.environment, WANTED: 'a', SECRET_OF_THE_SHELL: 'x' };
    await world.build();
    expect(world.read('artifacts/act/text')).toBe('a undefined UTC');

    world.environment = { ...world.environment, SECRET_OF_THE_SHELL: 'y' };
    expect((await world.build()).outcomes).toEqual({ act: 'up-to-date' });
    world.environment = { ...world.environment, WANTED: 'b' };
    expect((await world.build()).outcomes).toEqual({ act: 'executed' });
  });

  it('of the platform class runs only the stages that run models', async () => {
    world.stages = { ...CHAIN, model: { uses: 'model', inputs: { text: 'source.txt' } } };
    await world.build();
    world.platformClass = 'class-2';

    expect((await world.build()).outcomes).toEqual({ strip: 'up-to-date', count: 'up-to-date', other: 'up-to-date', model: 'executed' });
  });
});

describe('a folder as a source', () => {
  it('is tracked by name and content when files are added, removed and renamed', async () => {
    world.stages = { list: { uses: 'list', inputs: { all: 'plugins' } } };
    await world.build();
    writeFileSync(world.path('plugins/new.txt'), 'x');
    expect((await world.build()).outcomes).toEqual({ list: 'executed' });
    renameSync(world.path('plugins/new.txt'), world.path('plugins/renamed.txt'));
    expect((await world.build()).outcomes).toEqual({ list: 'executed' });
    expect(world.read('artifacts/list/text')).toContain('renamed.txt');
    rmSync(world.path('plugins/renamed.txt'));
    expect((await world.build()).outcomes).toEqual({ list: 'restored' });
  });
});

describe('force', () => {
  it('runs the unchanged targets, but not their dependencies', async () => {
    await world.build();

    expect((await world.build({ targets: ['count' as StageId], force: 'targets' })).outcomes).toEqual({
      strip: 'up-to-date',
      count: 'executed',
    });
  });
});

describe('status and explain', () => {
  it('report what a build would do and why, and write nothing', async () => {
    await world.build();
    world.append('source.txt', '\nthree');
    world.stages = { ...CHAIN, other: { ...CHAIN.other, params: { add: '!' } } };
    const files = snapshot(world.folder);

    const status = await examineStages(await world.plan(), { targets: 'all', force: 'never' }, world.ports());
    const explanation = await explainStage(await world.plan(), 'other' as StageId, world.ports());

    expect(kindsOf(status)).toEqual({
      strip: 'stale',
      count: 'undecided',
      other: 'stale',
    });
    expect(status.get('strip' as StageId)?.status).toMatchObject({ reasons: ['source source.txt changed'] });
    expect(explanation.status).toMatchObject({ changes: [{ label: 'params.add', before: undefined, after: '!' }] });
    expect(explanation.status.kind === 'stale' ? explanation.status.changes.map(describeChange) : []).toEqual([
      'params.add was added: "!"',
    ]);
    expect(snapshot(world.folder)).toEqual(files);
  });

  it('continue from restorable stages to their dependents', async () => {
    await world.build();
    world.write('source.txt', 'one');
    await world.build();
    world.write('source.txt', SOURCES['source.txt']);

    const status = await examineStages(await world.plan(), { targets: 'all', force: 'never' }, world.ports());
    expect(kindsOf(status)).toEqual({
      strip: 'restorable',
      count: 'restorable',
      other: 'up-to-date',
    });
  });

  it('create no cache folder', async () => {
    await examineStages(await world.plan(), { targets: 'all', force: 'never' }, world.ports());
    expect(existsSync(world.path('cache'))).toBe(false);
  });
});

describe('gates', () => {
  it('are checked in every build, also for stages that are up to date, and are not part of the key', async () => {
    await world.build();
    world.stages = { ...CHAIN, count: { ...CHAIN.count, gate: [gate('nested.twice', '>=', 5), gate('lines', '==', 2)] } };
    const { report, outcomes } = await world.build();

    expect(outcomes.count).toBe('up-to-date');
    expect(report.conclusion).toBe('gate-missed');
    expect(report.gates).toMatchObject([
      { stage: 'count', value: 4, verdict: 'missed' },
      { stage: 'count', value: 2, verdict: 'met' },
    ]);
    expect(existsSync(world.path('artifacts/count/text'))).toBe(true);
  });

  it('are missed if the metric does not exist', async () => {
    world.stages = { ...CHAIN, count: { ...CHAIN.count, gate: [gate('no.such', '>=', 0)] } };

    expect((await world.build()).report).toMatchObject({ conclusion: 'gate-missed', gates: [{ value: undefined, verdict: 'missed' }] });
  });

  it('are reported with the previous metrics', async () => {
    await world.build();
    world.append('source.txt', '\nthree');
    const { report } = await world.build();

    expect(report.stages.get('count' as StageId)).toMatchObject({ metrics: { lines: 3 }, previousMetrics: { lines: 2 } });
  });
});

/** Every path below a folder with its inode and times. */
function snapshot(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}
