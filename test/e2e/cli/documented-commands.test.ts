/** The commands of docs/cli.md print what the page shows. UPDATE_GOLDEN=1 rewrites the output on the page. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { findMismatch, playSteps, stepsOf, updatePage } from '../../support/console-blocks.js';
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
    world = givenProject({ 'bin/tanren': `#!/bin/sh\nexec "${process.execPath}" "${join(DIST, 'bin/tanren.js')}" "$@"\n` });
    world.write('project/pipeline.yaml', pipeline);
    writeFileSync(join(world.folder, 'project/neck.onnx'), encodeModel(makeNeck()));
    // The first line of each further file is its name.
    for (const other of others) world.write(`project/${/^# (\S+)/.exec(other)?.[1]}`, other);
    await writeModel(join(world.folder, 'project/head.onnx'), smallHead());
    world.write('project/head-sketches.json', JSON.stringify(await encodeHeadSketches()));
    chmodSync(join(world.folder, 'bin/tanren'), 0o755);
    const steps = stepsOf(page);
    const env = {
      ...process.env,
      PATH: [join(world.folder, 'bin'), process.env.PATH].join(delimiter),
      NO_COLOR: '1',
      FORCE_COLOR: undefined,
    };
    const outputs = playSteps(steps, join(world.folder, 'project'), env);
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(PAGE, updatePage(page, steps, outputs));

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
    const wrong = steps.map(({ command, expected }, index) => [command, findMismatch(expected, outputs[index] ?? [])]);
    expect(wrong.filter(([, mismatch]) => mismatch !== undefined)).toEqual([]);
  });
});
