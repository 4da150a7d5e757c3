/** What a stage is told of the build it runs in, and when that makes it stale. */

import { describeChange } from '../../../src/engine/action/changes.js';
import { explainStage } from '../../../src/engine/insight/explain/explain-stages.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import type { BuildSummary } from '../../../src/stage/build-summary.js';
import { gate } from '../../support/plan-of.js';
import { givenWorld, type World } from '../../support/world.js';

const STAGES = {
  strip: { uses: 'strip', inputs: { text: 'source.txt' } },
  count: { uses: 'count', inputs: { text: 'strip.text' }, gate: [gate('lines', '>=', 2), gate('nested.twice', '<', 3)] },
  aside: { uses: 'act', inputs: { text: 'side.txt' } },
  page: { uses: 'page', inputs: { any: { counted: 'count.text', 'the source': 'side.txt' } } },
};

let world: World;
beforeEach(() => {
  world = givenWorld(STAGES, { 'source.txt': 'one\n# comment\ntwo', 'side.txt': 'other' });
});
afterEach(() => world.remove());

const summary = (): BuildSummary => JSON.parse(world.read('artifacts/page/text')) as BuildSummary;
const outcomes = () => Object.fromEntries(summary().stages.map(({ stage, outcome }) => [stage, outcome]));

it('a stage receives the summary of the stages before it and of their gates, and of no other stage', async () => {
  await world.build();
  const { stages, reads } = summary();

  expect(stages.map(({ stage, plugin, outcome }) => [stage, plugin, outcome])).toEqual([
    ['strip', 'strip', 'executed'],
    ['count', 'count', 'executed'],
  ]);
  expect(reads).toEqual([
    { kind: 'artifact', port: 'any', entry: 'counted', stage: 'count', output: 'text' },
    { kind: 'source', port: 'any', entry: 'the source', source: 'side.txt' },
  ]);
  expect(stages[1]?.reads).toEqual([{ kind: 'artifact', port: 'text', stage: 'strip', output: 'text' }]);
  expect(stages[1]?.gates).toEqual([
    { metric: 'lines', operator: '>=', bound: 2, value: 2, verdict: 'met' },
    { metric: 'nested.twice', operator: '<', bound: 3, value: 4, verdict: 'missed' },
  ]);
  expect(stages[1]?.outputs.map(({ port, kind, sizeBytes }) => [port, kind, sizeBytes])).toEqual([
    ['text', 'file', 2],
    ['metrics', 'metrics', 32],
  ]);
  for (const { key, durationMs } of stages) {
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(durationMs).toBeGreaterThan(0);
  }
});

it('a second build does nothing', async () => {
  await world.build();
  const { outcomes: second } = await world.build();

  expect(second).toEqual({ strip: 'up-to-date', count: 'up-to-date', aside: 'up-to-date', page: 'up-to-date' });
  expect(outcomes()).toEqual({ strip: 'executed', count: 'executed' });
});

it('a stage before it that runs again makes it run again, even if the bytes between them are equal', async () => {
  await world.build();
  world.write('source.txt', 'one\n# another comment\ntwo');
  const { outcomes: second } = await world.build();

  expect(second).toEqual({ strip: 'executed', count: 'up-to-date', aside: 'up-to-date', page: 'executed' });
  expect(outcomes()).toEqual({ strip: 'executed', count: 'up-to-date' });
});

it('a stage that it does not depend on has no effect on it', async () => {
  await world.build();
  world.write('side.txt', 'another');
  world.stages = { ...STAGES, page: { uses: 'page', inputs: { any: { counted: 'count.text' } } } };
  await world.build();
  world.write('side.txt', 'one more');

  expect((await world.build()).outcomes).toMatchObject({ aside: 'executed', page: 'up-to-date' });
});

it('a changed gate makes it stale, and explain names the stage of the gate', async () => {
  await world.build();
  world.stages = { ...STAGES, count: { ...STAGES.count, gate: [gate('lines', '>=', 1)] } };
  const { status } = await explainStage(await world.plan(), 'page' as StageId, world.ports());

  expect(status.kind).toBe('stale');
  expect(status.kind === 'stale' ? status.changes.map(describeChange) : []).toEqual(['the state of count changed']);
  expect((await world.build()).outcomes).toEqual({ strip: 'up-to-date', count: 'up-to-date', aside: 'up-to-date', page: 'executed' });
  expect(summary().stages[1]?.gates).toHaveLength(1);
});

it('a result that comes back is restored, with the page of the build that made it', async () => {
  await world.build();
  const page = world.read('artifacts/page/text');
  world.write('source.txt', 'one');
  await world.build();
  world.write('source.txt', 'one\n# comment\ntwo');

  expect((await world.build()).outcomes).toMatchObject({ strip: 'restored', count: 'restored', page: 'restored' });
  expect(world.read('artifacts/page/text')).toBe(page);
});
