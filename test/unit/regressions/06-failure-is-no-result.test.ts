/** A failed stage runs again after the machine was fixed, although its key is unchanged: failures are never stored as results. */
import { givenWorld, type World } from '../../support/world.js';

let world: World;
beforeEach(() => {
  world = givenWorld({}, { 'source.txt': 'text' });
  world.stages = { act: { uses: 'act', inputs: { text: 'source.txt' }, params: { failUnless: world.path('driver') } } };
});
afterEach(() => world.remove());

describe('a stage that failed', () => {
  it('runs again in the next build, and succeeds once the machine is fixed', async () => {
    expect((await world.build()).outcomes).toEqual({ act: 'failed' });
    expect((await world.build()).outcomes).toEqual({ act: 'failed' });
    world.write('driver', 'installed');
    expect((await world.build()).outcomes).toEqual({ act: 'executed' });
    expect((await world.build()).outcomes).toEqual({ act: 'up-to-date' });
  });
});
