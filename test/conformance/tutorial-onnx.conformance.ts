/** docs/tutorial-onnx.md: its commands print what it shows, for the published UltraFace and four photographs. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { givenProject } from '../support/cli-world.js';
import { findMismatch, playSteps, stepsOf } from '../support/console-blocks.js';
import { environmentOf, TANREN } from '../support/documented-page.js';
import { PROJECT } from '../support/shapes-project.js';
import { findSharedFolder } from '../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

suite('docs/tutorial-onnx.md', () => {
  it('shows what its commands print, with the edit that it asks for', () => {
    const from = shared ?? '';
    const world = givenProject(TANREN);
    try {
      copyFileSync(join(from, 'models/ultraface/version-RFB-320.onnx'), join(world.folder, 'ultraface.onnx'));
      const photographs = join(from, 'images/coco-mini12/images');
      mkdirSync(join(world.folder, 'photos'));
      for (const name of readdirSync(photographs).sort().slice(0, 4))
        copyFileSync(join(photographs, name), join(world.folder, 'photos', name));

      const page = readFileSync(join(PROJECT, 'docs/tutorial-onnx.md'), 'utf8');
      const preprocess = /```yaml\n(\{range: .*\})\n```/.exec(page)?.[1] ?? '(no preprocessing on the page)';
      const steps = stepsOf(page);
      const edit = steps.findIndex(({ command }) => command === 'tanren build');
      const env = environmentOf(world);
      const before = playSteps(steps.slice(0, edit), world.folder, env);
      const draft = world.read('pipeline.yaml');
      const edited = draft.replace(/preprocess: (&preprocess )?\{[^}]*\}/g, (_, anchor = '') => `preprocess: ${anchor}${preprocess}`);
      world.write('pipeline.yaml', edited.replace('categories: [class-1]', 'categories: [face]'));
      const outputs = [...before, ...playSteps(steps.slice(edit), world.folder, env)];

      expect(edit).toBeGreaterThan(0);
      expect(edited).not.toBe(draft);
      const wrong = steps.map(({ command, expected }, index) => [command, findMismatch(expected, outputs[index] ?? [])] as const);
      expect(wrong.filter(([, mismatch]) => mismatch !== undefined)).toEqual([]);
    } finally {
      world.remove();
    }
  }, 180_000);
});
