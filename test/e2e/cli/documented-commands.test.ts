/** Does every command print what docs/cli.md shows? UPDATE_GOLDEN=1 writes the page's output anew. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { findMismatch, playSteps, stepsOf, updatePage } from '../../support/console-blocks.js';
import { DIST } from '../../support/world.js';

const PAGE = join(dirname(DIST), 'docs/cli.md');

describe('docs/cli.md', () => {
  let world: CliWorld;
  afterEach(() => world.remove());

  it('shows what the commands print', () => {
    const page = readFileSync(PAGE, 'utf8');
    const pipeline = /^```yaml\n([\s\S]*?)^```/m.exec(page)?.[1] ?? '';
    world = givenProject({ 'bin/tanren': `#!/bin/sh\nexec "${process.execPath}" "${join(DIST, 'bin/tanren.js')}" "$@"\n` });
    world.write('project/pipeline.yaml', pipeline);
    chmodSync(join(world.folder, 'bin/tanren'), 0o755);
    const steps = stepsOf(page);
    const env = { ...process.env, PATH: [join(world.folder, 'bin'), process.env.PATH].join(delimiter), NO_COLOR: '1', FORCE_COLOR: '' };
    const outputs = playSteps(steps, join(world.folder, 'project'), env);
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(PAGE, updatePage(page, steps, outputs));

    for (const command of ['build', 'status', 'explain', 'graph', 'log', 'clean', 'init', 'schema', 'plugins'])
      expect(steps.some(step => step.command.includes(`tanren ${command}`))).toBe(true);
    const wrong = steps.map(({ command, expected }, index) => [command, findMismatch(expected, outputs[index] ?? [])]);
    expect(wrong.filter(([, mismatch]) => mismatch !== undefined)).toEqual([]);
  });
});
