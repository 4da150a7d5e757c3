/** The commands of docs/cli.md print what the page shows. UPDATE_GOLDEN=1 rewrites the output on the page. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { playPage, TANREN } from '../../support/documented-page.js';
import { makeNeck } from '../../support/neck.js';
import { encodeHeadSketches, smallHead } from '../../support/small-detector-head.js';
import { DIST } from '../../support/world.js';

const PAGE = join(dirname(DIST), 'docs/cli.md');

describe('docs/cli.md', () => {
  let world: CliWorld;
  afterEach(() => world.remove());

  it('shows the output of the commands', async () => {
    const page = readFileSync(PAGE, 'utf8');
    const [pipeline = '', ...others] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
    world = givenProject(TANREN);
    world.write('project/pipeline.yaml', pipeline);
    writeFileSync(join(world.folder, 'project/neck.onnx'), encodeModel(makeNeck()));
    // The first line of each further file is its name.
    for (const other of others) world.write(`project/${/^# (\S+)/.exec(other)?.[1]}`, other);
    await writeModel(join(world.folder, 'project/head.onnx'), smallHead());
    world.write('project/head-sketches.json', JSON.stringify(await encodeHeadSketches()));

    const { steps, wrong } = playPage(PAGE, world, join(world.folder, 'project'));

    for (const command of [
      'build',
      'status',
      'explain',
      'graph',
      'history',
      'metrics',
      'diff',
      'profile',
      'log',
      'clean',
      'init',
      'schema',
      'plugins',
      'quant explain',
    ])
      expect(steps.some(step => step.command.includes(`tanren ${command}`))).toBe(true);
    expect(wrong).toEqual([]);
  });
});
