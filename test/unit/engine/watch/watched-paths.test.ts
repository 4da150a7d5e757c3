/** The paths that a watcher observes. */
import type { Plan, PlannedStage, StageId } from '../../../../src/engine/model/plan.js';
import { watchedPaths } from '../../../../src/engine/watch/watched-paths.js';
import { givenWorld, type World } from '../../../support/world.js';

let world: World;
beforeEach(() => {
  world = givenWorld({ a: { uses: 'toolMix', params: { tool: 'tools/gen.sh' }, inputs: { texts: { x: 'x.txt' } } } });
});
afterEach(() => world.remove());

it('sources, programs of the project, and what plugins declare to read', async () => {
  const plan = withReads(await world.plan(), ['data', 'file:///far/list.json']);
  const expected = [
    '/far/list.json',
    world.path('pipeline.yaml'),
    world.path('plugins/data'),
    world.path('tools/gen.sh'),
    world.path('x.txt'),
  ];
  expect(watchedPaths(plan, [world.path('pipeline.yaml')])).toEqual(expected.sort());
});

it('no programs of the system', async () => {
  world.stages = { a: { uses: 'toolMix', params: { tool: 'sh' } }, b: { uses: 'toolMix', params: { tool: '/bin/sh' } } };
  expect(watchedPaths(await world.plan(), [])).toEqual([]);
});

function withReads(plan: Plan, reads: readonly string[]): Plan {
  const stages = [...plan.stages].map(([id, stage]): [StageId, PlannedStage] => [
    id,
    { ...stage, plugin: { ...stage.plugin, plugin: { ...stage.plugin.plugin, reads } } },
  ]);
  return { ...plan, stages: new Map(stages) };
}
