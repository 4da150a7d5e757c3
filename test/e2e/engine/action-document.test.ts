/** The document that a run is given: the same on every machine, so that another one could do the work. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { StageSpec } from '../../support/plan-of.js';
import { givenWorld, type World } from '../../support/world.js';

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

/** The text of the document of a stage that waits for a file in its scratch folder. */
async function documentOf(spec: Partial<StageSpec> = {}): Promise<{ readonly text: string; readonly world: World }> {
  const stage: StageSpec = { uses: 'act', params: { until: 'go' }, inputs: { text: 'source.txt', more: { a: 'source.txt' } }, ...spec };
  const world = givenWorld({ stage }, { 'source.txt': 'one' });
  worlds.push(world);
  const building = world.build();
  const path = await findRun(world);
  const text = readFileSync(join(path, 'action.json'), 'utf8');
  writeFileSync(join(path, 'scratch/go'), '');
  expect((await building).outcomes).toEqual({ stage: 'executed' });
  return { text, world };
}

async function findRun(world: World): Promise<string> {
  for (;;) {
    const folders = existsSync(world.path('cache/tmp')) ? readdirSync(world.path('cache/tmp')) : [];
    const found = folders.map(name => world.path(`cache/tmp/${name}`)).find(path => existsSync(join(path, 'local.json')));
    if (found !== undefined) return found;
    await wait(20);
  }
}

it('is equal in another folder, and contains no machine path', async () => {
  const one = await documentOf();
  const two = await documentOf();
  expect(one.text).toBe(two.text);
  expect(one.text).not.toContain(one.world.folder);
  expect(JSON.parse(one.text)).toMatchObject({ local: [], inputs: { text: 'inputs/text.txt', more: { a: 'inputs/more/a.txt' } } });
});

it('marks a stage with secrets as not runnable on another machine', async () => {
  const { text } = await documentOf({ secrets: ['HOME'] });
  expect(JSON.parse(text)).toMatchObject({ local: ['secrets'], secrets: ['HOME'] });
  expect(text).not.toContain(String(process.env.HOME));
});
