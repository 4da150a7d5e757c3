/** docs/tutorial-recover.md: its commands print what it shows, for the published YOLOX-nano and twelve images of COCO. */
import { chmodSync, copyFileSync, cpSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { givenProject } from '../support/cli-world.js';
import { findMismatch, playSteps, stepsOf } from '../support/console-blocks.js';
import { TANREN } from '../support/documented-page.js';
import { PROJECT } from '../support/shapes-project.js';
import { findSharedFolder } from '../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

suite('docs/tutorial-recover.md', () => {
  it('shows what its commands print', () => {
    const from = shared ?? '';
    const world = givenProject(TANREN);
    try {
      chmodSync(join(world.folder, 'bin/tanren'), 0o755);
      copyFileSync(join(from, 'models/yolox-nano/yolox_nano.onnx'), join(world.folder, 'yolox_nano.onnx'));
      cpSync(join(from, 'images/coco-mini12'), join(world.folder, 'coco'), { recursive: true });
      const steps = stepsOf(readFileSync(join(PROJECT, 'docs/tutorial-recover.md'), 'utf8'));
      const path = [join(world.folder, 'bin'), process.env.PATH].join(delimiter);
      const outputs = playSteps(steps, world.folder, { ...process.env, PATH: path, NO_COLOR: '1', FORCE_COLOR: undefined });

      expect(steps.map(({ command }) => command.split(' ').slice(0, 2).join(' '))).toEqual([
        'tanren init',
        'tanren build',
        'tanren init',
        'tanren build',
      ]);
      const wrong = steps.map(({ command, expected }, index) => [command, findMismatch(expected, outputs[index] ?? [])] as const);
      expect(wrong.filter(([, mismatch]) => mismatch !== undefined)).toEqual([]);
    } finally {
      world.remove();
    }
  }, 300_000);
});
