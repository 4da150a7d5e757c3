/** A stage that would run is traced to what changed, however far away and however long ago. */
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { explainStage, explainStages } from '../../../src/engine/insight/explain/explain-stages.js';
import { examineStages } from '../../../src/engine/insight/status/status.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { checkPredictions } from '../../support/check-predictions.js';
import { givenWorld, type World } from '../../support/world.js';

const CHAIN = {
  names: { uses: 'list', inputs: { all: 'photos' } },
  strip: { uses: 'strip', inputs: { text: 'names.text' } },
  count: { uses: 'count', inputs: { text: 'strip.text' } },
  other: { uses: 'act', inputs: { text: 'side.txt' }, params: { add: '!' } },
};

let world: World;
beforeEach(async () => {
  world = givenWorld(CHAIN, { 'side.txt': 'side' });
  mkdirSync(world.path('photos/deep'), { recursive: true });
  for (const name of ['a.jpg', 'b.jpg', 'deep/c.jpg']) world.write(`photos/${name}`, name);
  await world.build();
});
afterEach(() => world.remove());

const causesOf = async (stage: string): Promise<readonly string[]> =>
  (await explainStage(await world.plan(), stage as StageId, world.ports())).causes.map(({ text, path }) => [text, ...path].join(' ⇒ '));

describe('explain', () => {
  it('names the files of a folder, and the way from there, root first', async () => {
    world.write('photos/d.jpg', 'new');
    world.write('photos/a.jpg', 'other');
    renameSync(world.path('photos/b.jpg'), world.path('photos/z.jpg'));
    rmSync(world.path('photos/deep'), { recursive: true });

    const root = 'source photos changed: 1 added (d.jpg), 1 removed (deep/c.jpg), 1 changed (a.jpg), 1 renamed (b.jpg → z.jpg)';
    expect(await causesOf('count')).toEqual([`${root} ⇒ names ⇒ strip ⇒ count`]);
    expect(await causesOf('names')).toEqual([`${root} ⇒ names`]);
    expect(await causesOf('other')).toEqual([]);
  });

  it('names a parameter with both values, also of a stage further up, and several roots', async () => {
    world.write('side.txt', 'other side');
    world.stages = {
      ...CHAIN,
      other: { ...CHAIN.other, params: { add: '?' } },
      strip: { ...CHAIN.strip, params: { loud: true } },
      count: { ...CHAIN.count, params: { factor: 2 } },
    };

    expect(await causesOf('other')).toEqual(['source side.txt changed ⇒ other', 'params.add: "!" → "?" ⇒ other']);
    expect(await causesOf('count')).toEqual(['params.factor was added: 2 ⇒ count', 'params.loud was added: true ⇒ strip ⇒ count']);
  });

  it('finds the root cause even if the stages in between have been built since', async () => {
    world.write('photos/d.jpg', 'new');
    await world.build({ targets: ['strip' as StageId] });

    expect(await causesOf('strip')).toEqual([]);
    expect(await causesOf('count')).toEqual(['source photos changed: 1 added (d.jpg) ⇒ names ⇒ strip ⇒ count']);
  });

  it('reports an unknown cause if the records are missing', async () => {
    world.write('photos/d.jpg', 'new');
    await world.build({ targets: ['strip' as StageId] });
    const { accepted } =
      (await examineStages(await world.plan(), { targets: 'all', force: 'never' }, world.ports())).get('strip' as StageId) ?? {};
    rmSync(world.path(`cache/actions/${accepted?.key.slice(0, 2)}`), { recursive: true });

    expect(await causesOf('count')).toEqual(['built again since, from unknown inputs ⇒ strip ⇒ count']);
  });

  it('names the modules of changed code', async () => {
    world.write('plugins/shout.mjs', `${world.read('plugins/shout.mjs')}\n// louder\n`);

    expect(await causesOf('count')).toEqual([
      'the code of count changed: shout.mjs ⇒ count',
      'the code of strip changed: shout.mjs ⇒ strip ⇒ count',
      'the code of list changed: shout.mjs ⇒ names ⇒ strip ⇒ count',
    ]);
  });

  it('reports edited and missing artifacts, and stages that were never built', async () => {
    world.write('artifacts/strip/text', 'forged');
    world.stages = {
      ...CHAIN,
      fresh: { uses: 'strip', inputs: { text: 'count.text' } },
      lost: { uses: 'strip', inputs: { text: 'no.txt' } },
    };
    world.stages = { ...world.stages, after: { uses: 'strip', inputs: { text: 'lost.text' } } };

    expect(await causesOf('strip')).toEqual(['its published outputs were changed: text was changed ⇒ strip']);
    expect(await causesOf('fresh')).toEqual(['never built ⇒ fresh']);
    expect(await causesOf('after')).toEqual(['cannot run: source no.txt does not exist ⇒ lost ⇒ after']);
  });

  it('uses one examination of all stages', async () => {
    world.write('photos/d.jpg', 'new');
    const explained = await explainStages(await world.plan(), 'all', world.ports());
    expect([...explained].map(([stage, { causes }]) => [stage, causes.length])).toEqual([
      ['names', 1],
      ['strip', 1],
      ['count', 1],
      ['other', 0],
    ]);
  });
});

describe('a dry run', () => {
  const foresee = async () => examineStages(await world.plan(), { targets: 'all', force: 'never' }, world.ports());
  const kinds = async () => Object.fromEntries([...(await foresee())].map(([stage, { status }]) => [stage, status.kind]));

  it('decides all stages if the cache has no similar action', async () => {
    rmSync(world.path('cache'), { recursive: true });
    const foreseen = await foresee();

    expect(await kinds()).toEqual({ names: 'stale', strip: 'stale', count: 'stale', other: 'stale' });
    expect(foreseen.get('count' as StageId)?.status).toMatchObject({ after: ['strip'], reasons: ['never built'] });
    checkPredictions(foreseen, (await world.build()).outcomes, 'stop');
  });

  it('decides a stage with an added parameter, even after a stage that may give equal bytes', async () => {
    world.write('photos/d.jpg', 'new');
    world.stages = { ...CHAIN, count: { ...CHAIN.count, params: { factor: 3 } } };
    const foreseen = await foresee();

    expect(await kinds()).toEqual({ names: 'stale', strip: 'undecided', count: 'stale', other: 'up-to-date' });
    checkPredictions(foreseen, (await world.build()).outcomes, 'stop');
  });

  it('leaves stages undecided if their actions may be equal', async () => {
    world.stages = {
      one: { uses: 'strip', inputs: { text: 'side.txt' }, params: { fresh: 1 } },
      two: { uses: 'strip', inputs: { text: 'side.txt' }, params: { fresh: 1 } },
      three: { uses: 'strip', inputs: { text: 'one.text' }, params: { fresh: 1 } },
      four: { uses: 'strip', inputs: { text: 'side.txt' }, params: { fresh: 2 } },
    };
    const foreseen = await foresee();

    expect(await kinds()).toEqual({ one: 'undecided', two: 'undecided', three: 'undecided', four: 'stale' });
    checkPredictions(foreseen, (await world.build({ jobs: 1 })).outcomes, 'stop');
  });

  it('reports stages that cannot run, and the stages blocked by them', async () => {
    rmSync(world.path('photos'), { recursive: true });
    const foreseen = await foresee();

    expect(await kinds()).toEqual({ names: 'impossible', strip: 'blocked', count: 'blocked', other: 'up-to-date' });
    checkPredictions(foreseen, (await world.build({ failures: 'keep-going' })).outcomes, 'keep-going');
  });
});
