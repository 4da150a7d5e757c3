/** docs/tutorial-recover.md: its commands print what it shows, for the published YOLOX-nano and twelve images of COCO. */
import { copyFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { givenProject } from '../support/cli-world.js';
import { playPage, TANREN } from '../support/documented-page.js';
import { PROJECT } from '../support/shapes-project.js';
import { findSharedFolder } from '../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

suite('docs/tutorial-recover.md', () => {
  it('shows what its commands print', () => {
    const from = shared ?? '';
    const world = givenProject(TANREN);
    try {
      copyFileSync(join(from, 'models/yolox-nano/yolox_nano.onnx'), join(world.folder, 'yolox_nano.onnx'));
      cpSync(join(from, 'images/coco-mini12'), join(world.folder, 'coco'), { recursive: true });
      const { steps, wrong } = playPage(join(PROJECT, 'docs/tutorial-recover.md'), world);
      expect(steps.map(({ command }) => command.split(' ').slice(0, 2).join(' '))).toEqual([
        'tanren init',
        'tanren build',
        'tanren init',
        'tanren build',
      ]);
      expect(wrong).toEqual([]);
    } finally {
      world.remove();
    }
  }, 300_000);
});
