/** `tanren ui` shows results that only the cache has: those of an imported archive, and of artifacts that were removed. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { PipelineView } from '../../../src/report/views/pipeline-data.js';
import { type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';
import { findPage } from '../../support/page-client.js';

/** Its output `files` is a folder. */
const WITH_FOLDER = TEXT_PROJECT['pipeline.yaml'].replace(
  'stages:\n',
  `stages:
  folder: {uses: command, with: {run: [sh, -c, "mkdir -p out/in; echo one > out/in/a.txt; echo '{}' > out/b.json"], outputs: {files: out}}}
`,
);

let worlds: CliWorld[];
beforeEach(() => {
  worlds = [];
});
afterEach(() => {
  for (const world of worlds) world.remove();
});

function given(): CliWorld {
  const world = givenProject({ ...TEXT_PROJECT, 'pipeline.yaml': WITH_FOLDER });
  worlds.push(world);
  return world;
}

const show = async (world: CliWorld) => findPage(world.start('ui', '--port', '0', '--read-only'));

it('shows what an imported archive holds, without a build, and writes no artifact', async () => {
  const built = given();
  expect(built.run('build').exitCode).toBe(0);
  expect(built.run('cache', 'export', 'all.tanren').exitCode).toBe(0);
  const cold = given();
  expect(cold.run('cache', 'import', join(built.folder, 'all.tanren')).exitCode).toBe(0);
  const page = await show(cold);
  const { stages } = await page.json<PipelineView>('pipeline');
  expect(stages.map(({ state, built: isBuilt }) => [state, isBuilt])).toEqual(stages.map(() => ['restorable', true]));
  expect(stages.find(({ id }) => id === 'judge')?.gates).toEqual([{ metric: 'quality.words', bound: '>= 1', value: 3, verdict: 'met' }]);
  expect(stages.map(({ cached }) => cached)).toEqual(stages.map(() => true));
  expect((await page.ask('/api/artifact?stage=shout&port=text')).body).toBe('FORGE\nupper\n');
  expect(await page.json('artifact?stage=folder&port=files')).toEqual({
    files: [
      { path: 'b.json', sizeBytes: 3 },
      { path: 'in/a.txt', sizeBytes: 4 },
    ],
  });
  expect((await page.ask('/api/artifact?stage=folder&port=files&path=in/a.txt')).body).toBe('one\n');
  for (const path of ['in', '../b.json', 'in/../b.json', '/etc/passwd'])
    expect((await page.ask(`/api/artifact?stage=folder&port=files&path=${encodeURIComponent(path)}`)).status).toBe(404);
  // An older folder under artifacts/ would not be that result.
  cold.write('artifacts/folder/files/b.json', '{}');
  const tensor = await page.ask('/api/tensor?stage=shout&port=text&value=x&captured=folder');
  expect([tensor.status, tensor.body]).toEqual([404, expect.stringContaining('only the cache has the result of folder')]);
  expect(cold.exists('artifacts/shout')).toBe(false);
});

it('shows accepted results whose artifacts were removed, and refuses a blob that is damaged', async () => {
  const world = given();
  expect(world.run('build').exitCode).toBe(0);
  rmSync(join(world.folder, 'artifacts'), { recursive: true });
  const page = await show(world);
  expect((await page.ask('/api/artifact?stage=shout&port=text')).body).toBe('FORGE\nupper\n');
  const digest = (await page.json<PipelineView>('pipeline')).stages.find(({ id }) => id === 'shout')?.outputs[0]?.digest ?? '';
  rmSync(join(world.folder, `cache/cas/${digest.slice(0, 2)}/${digest}`));
  world.saveByRename(`cache/cas/${digest.slice(0, 2)}/${digest}`, 'other');
  expect((await page.ask('/api/artifact?stage=shout&port=text')).status).toBe(404);
});
