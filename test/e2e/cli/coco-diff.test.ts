/** `tanren coco diff` lists what two detectors find differently, and shows it. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeImage } from '../../../src/detection/image/decode-image.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { fixturePath } from '../../support/fixtures.js';

const truth = {
  images: [{ id: 4, width: 33, height: 47, file_name: 'tiny.png' }],
  categories: [{ id: 2, name: 'ring' }],
  annotations: [
    { id: 1, image_id: 4, category_id: 2, iscrowd: 0, area: 100, bbox: [2, 12, 10, 10] },
    { id: 2, image_id: 4, category_id: 2, iscrowd: 0, area: 100, bbox: [20, 30, 10, 10] },
  ],
};
const [one, two] = truth.annotations.map(({ bbox }, index) => ({ image_id: 4, category_id: 2, bbox, score: 0.9 - index / 10 }));

let world: CliWorld;
beforeAll(() => {
  world = givenProject({
    'truth.json': JSON.stringify(truth),
    'float.json': JSON.stringify([one, two]),
    'int8.json': JSON.stringify([{ ...one, score: 0.3 }, two, { ...two, bbox: [0, 0, 6, 6] }]),
  });
  mkdirSync(join(world.folder, 'images'));
  copyFileSync(fixturePath('detection', 'tiny.png'), join(world.folder, 'images/tiny.png'));
});
afterAll(() => world.remove());

const diff = (...more: readonly string[]) => world.run('coco', 'diff', '-g', 'truth.json', 'float.json', 'int8.json', ...more);

describe('tanren coco diff', () => {
  it('lists the largest change first, and draws both sides', async () => {
    const { stdout, exitCode } = diff('--pictures', 'out', '--image-folder', 'images');
    expect(exitCode).toBe(0);
    expect(stdout.trim().split('\n')).toEqual([
      '1 object found by both, 0 changed, 1 lost, 0 found; 0 missed by both',
      'false positives: 1 new, 0 resolved',
      '',
      'change  image  class   cost  score  became  IoU    became  why',
      'lost        4  ring   0.900  0.900   0.300  1.000  1.000   score too low',
      'extra       4  ring   0.800      –   0.800',
      '',
      'wrote 1 picture to out',
    ]);
    const { width, height } = await decodeImage(readFileSync(join(world.folder, 'out/4.png')), '4.png');
    expect([width, height]).toEqual([33 + 8 + 33, 47]);
  });

  it('prints one JSON document, and requires the image folder', () => {
    expect(JSON.parse(diff('--json').stdout)).toMatchObject({
      counts: { lost: 1, found: 0, changed: 0, extra: 1, resolved: 0, kept: 1, missed: 0 },
      changes: [{ kind: 'lost', annotation_id: 1, before: { score: 0.9 }, after: { score: 0.3, lacks: 'score' } }, { kind: 'extra' }],
    });
    expect(diff('--pictures', 'nowhere')).toMatchObject({ exitCode: 2, stdout: '' });
    expect(world.exists('nowhere')).toBe(false);
  });
});
