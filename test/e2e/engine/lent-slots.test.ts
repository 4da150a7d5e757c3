/** Slots that nothing else needs compute parts of a stage, in processes of their own. */
import { existsSync } from 'node:fs';
import type { StageSpec } from '../../support/plan-of.js';
import { type Built, givenWorld, type World } from '../../support/world.js';

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

function given(params: StageSpec['params'], others: Readonly<Record<string, StageSpec>> = {}): World {
  const spread = { uses: 'spread', params: { count: 70, ms: 40, ...params }, inputs: { text: 'source.txt' } };
  const world = givenWorld({ spread, ...others }, { 'source.txt': 'text' });
  worlds.push(world);
  return world;
}

/** The parts that each process computed. */
function processesOf(world: World): readonly number[] {
  const counts = new Map<string, number>();
  if (existsSync(world.path('pids'))) for (const pid of world.read('pids').trim().split('\n')) counts.set(pid, (counts.get(pid) ?? 0) + 1);
  return [...counts.values()];
}

const build = async (params: StageSpec['params'], jobs: number): Promise<{ readonly world: World; readonly built: Built }> => {
  const world = given(params);
  const withPids = { ...world.stages.spread, params: { count: 70, ms: 40, ...params, pids: world.path('pids') } } as StageSpec;
  world.stages = { ...world.stages, spread: withPids };
  return { world, built: await world.build({ jobs }) };
};

it('a free slot computes about half of the parts, and the result is that of one process', async () => {
  const alone = await build({}, 1);
  const shared = await build({}, 2);
  expect(shared.built.events.filter(event => event.kind === 'warning' || event.kind === 'stage-started')).toHaveLength(1);
  expect(processesOf(alone.world)).toEqual([70]);
  const [own = 0, other = 0, ...more] = processesOf(shared.world);
  expect([own + other, more]).toEqual([70, []]);
  expect(other).toBeGreaterThan(5);
  expect(shared.world.read('artifacts/spread/text')).toBe(alone.world.read('artifacts/spread/text'));
});

it('a part process that ends costs nothing but time', async () => {
  const { world, built } = await build({ exits: true }, 2);
  expect(built.outcomes).toEqual({ spread: 'executed' });
  expect(world.read('artifacts/spread/text').split('\n')).toHaveLength(70);
  expect(processesOf(world)).toHaveLength(2);
  const logs = built.events.flatMap(event => (event.kind === 'log' ? [event.message] : []));
  expect(logs.filter(line => line.includes('a part process ended (exit code 3)'))).toHaveLength(1);
});

it('a part that fails fails the stage with its own error, wherever it was computed', async () => {
  const { built } = await build({ fails: 60 }, 2);
  const outcome = built.report.stages.get('spread' as never)?.outcome;
  expect(outcome).toMatchObject({ kind: 'failed', failure: { message: 'part 60 fails' } });
});

it('a stage that becomes ready gets a lent slot back before the parts are done', async () => {
  const world = given(
    { count: 160 },
    {
      // Takes no slot, so that the other one is lent when it ends.
      first: { uses: 'spread', params: { count: 4, ms: 500 }, inputs: { text: 'source.txt' }, resources: { cpu: 0 } },
      second: { uses: 'spread', params: { count: 1 }, inputs: { text: 'first.text' } },
    },
  );
  const { events, outcomes } = await world.build({ jobs: 2 });
  expect(outcomes).toEqual({ spread: 'executed', first: 'executed', second: 'executed' });
  const ends = events.flatMap(event => (event.kind === 'outcome' ? [event.stage] : []));
  expect(ends).toEqual(['first', 'second', 'spread']);
});

it('a stage that waits for several lent slots gets them all', async () => {
  const world = given(
    { count: 300 },
    {
      first: { uses: 'spread', params: { count: 4, ms: 700 }, inputs: { text: 'source.txt' }, resources: { cpu: 0 } },
      wide: { uses: 'spread', params: { count: 1 }, inputs: { text: 'first.text' }, resources: { cpu: 3 } },
    },
  );
  const { events, outcomes } = await world.build({ jobs: 4 });
  expect(outcomes).toEqual({ spread: 'executed', first: 'executed', wide: 'executed' });
  expect(events.flatMap(event => (event.kind === 'outcome' ? [event.stage] : []))).toEqual(['first', 'wide', 'spread']);
});

it.each([
  ['a wrong call of log', { logs: 'warn' }, 'failed'],
  ['a message of its own', { sends: true }, 'executed'],
  ['an answer to another order', { sends: 'answer' }, 'executed'],
])('%s in a part process does not end the worker', async (_what, params, outcome) => {
  const { built } = await build(params, 2);
  expect(built.outcomes).toEqual({ spread: outcome });
  const { outcome: end } = built.report.stages.get('spread' as never) ?? {};
  if (outcome === 'failed') expect(end).toMatchObject({ failure: { message: expect.stringContaining('context.log expects') } });
});

it('a stage that takes no slot gets none', async () => {
  const world = given({});
  world.stages = {
    spread: { ...world.stages.spread, params: { count: 60, ms: 40, pids: world.path('pids') }, resources: { cpu: 0 } } as StageSpec,
  };
  await world.build({ jobs: 2 });
  expect(processesOf(world)).toEqual([60]);
});
