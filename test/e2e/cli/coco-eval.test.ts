/** `tanren coco eval` for people, for scripts, and on wrong files. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { fixturePath } from '../../support/fixtures.js';

const image = { id: 5, width: 64, height: 48 };
/** A square object of 10 pixels. */
const annotationOf = (ids: object, x: number, y: number) => ({
  ...ids,
  iscrowd: 0,
  area: 100,
  bbox: [x, y, 10, 10],
  segmentation: [[x, y, x + 10, y, x + 10, y + 10, x, y + 10]],
});

const truth = {
  images: [image, { id: 9, width: 64, height: 48 }],
  // Ids with a gap.
  categories: [
    { id: 2, name: 'ring' },
    { id: 40, name: 'star' },
  ],
  annotations: [
    annotationOf({ id: 1, image_id: 5, category_id: 2 }, 10, 10),
    annotationOf({ id: 2, image_id: 9, category_id: 40 }, 30, 20),
  ],
};
const found = { image_id: 5, category_id: 2, score: 0.9, bbox: [10, 10, 10, 10] };

let world: CliWorld;
beforeAll(() => {
  world = givenProject({ 'truth.json': JSON.stringify(truth), 'found.json': JSON.stringify([found]) });
  world.write('val.json', readFileSync(resolve(fixturePath(), '../../examples/shapes/data/instances_val.json'), 'utf8'));
  world.write('shapes.json', String(gunzipSync(readFileSync(fixturePath('detection', 'shapes-detections.json.gz')))));
});
afterAll(() => world.remove());

const evaluate = (detections: string, ...more: readonly string[]) =>
  world.run('coco', 'eval', '-g', 'truth.json', '-d', detections, '-t', 'bbox', ...more);

describe('tanren coco eval', () => {
  it('prints the metrics and the data behind them as one JSON document', () => {
    const { stdout, stderr, exitCode } = world.run(
      ...['coco', 'eval', '-g', 'val.json', '-d', 'shapes.json', '-t', 'segm', '--per-class', '--errors', '--semantic', '--json'],
      ...['--curves', 'curves.json'],
    );
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    const document = JSON.parse(stdout) as { figures: { AP: number }; classes: { figures: { AP: number } }[]; errors: { ap: number } };
    const recorded = JSON.parse(readFileSync(fixturePath('detection', 'shapes-figures.json'), 'utf8')) as {
      figures: { segm: { AP: number } };
    };
    expect(document.figures.AP).toBeCloseTo(recorded.figures.segm.AP, 9);
    expect(document.classes).toHaveLength(6);
    // Every category has objects: the mean of their figures is the figure of all.
    expect(document.classes.reduce((sum, { figures }) => sum + figures.AP, 0) / 6).toBeCloseTo(document.figures.AP, 9);
    expect(document).toMatchObject({ images: 200, type: 'segm', semantic: { classes: expect.anything() as unknown } });
    const curves = JSON.parse(world.read('curves.json')) as { recall: number[]; mean: { precision: number[] }[]; categories: unknown[] };
    expect([curves.recall.length, curves.mean.length, curves.categories.length]).toEqual([101, 10, 6]);
    // AP is the mean of the mean curves.
    const all = curves.mean.flatMap(({ precision }) => precision);
    expect(all.reduce((sum, value) => sum + value, 0) / all.length).toBeCloseTo(document.figures.AP, 9);
  });

  it('draws curves, and can evaluate selected images', () => {
    const { stdout, exitCode } = evaluate('found.json', '--images', '1', '--curves', 'curves.svg');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('found.json: 1 detection of 1 object in 1 image');
    expect(stdout).toMatch(/^AP\s+1\.0000$/m);
    expect(world.read('curves.svg')).toContain('<svg');
    expect(evaluate('found.json', '--images', '5,9').stdout).toMatch(/^AP\s+0\.5000$/m);
  });

  it('zero detections give an AP of 0', () => {
    world.write('none.json', '[]\n');
    const { stdout, stderr, exitCode } = evaluate('none.json', '--errors', '--per-class');
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toMatch(/^AP\s+0\.0000$/m);
    expect(stdout).toMatch(/missed\s+2\s+1\.0000/);
  });

  it('detections of unknown categories are ignored with a warning', () => {
    world.write('unknown.json', JSON.stringify([found, { ...found, category_id: 3 }, { ...found, category_id: 1 }]));
    const { stderr, stdout, exitCode } = evaluate('unknown.json');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^AP\s+0\.5000$/m);
    expect(stderr).toBe(
      'warning[coco-left-out]: unknown.json: 2 of 3 detections are of categories that the ground truth lacks (1, 3) and are ignored\n',
    );
  });

  it('what is odd is computed, with warnings', () => {
    world.write('odd.json', '[{"image_id": 5, "category_id": 2, "bbox": [1, 1, 1, 1], "score": NaN}]');
    const { stderr, exitCode } = evaluate('odd.json');
    expect(exitCode).toBe(0);
    expect(stderr).toBe('warning[coco-odd]: odd.json: 1 value of NaN or infinity; a score of NaN ranks last (result 0.score)\n');
  });

  it.each([
    [['-d', 'absent.json'], 'error[coco-unreadable]: absent.json cannot be read: ENOENT'],
    [['-d', 'nan.json'], 'error[coco-malformed]: nan.json is not valid JSON in result 0'],
    [['-d', 'found.json', '-t', 'keypoints'], 'a result of image 5 has no keypoints, which these figures need'],
    [['-d', 'found.json', '--images', '4,5'], 'error[image-unknown]: the ground truth has no image 4'],
    [['-d', 'found.json', '--curves', 'found.json/curves.json'], 'error[not-writable]: "curves.json" cannot be written: E'],
    [['-d', 'found.json', '--curves', 'curves.pdf'], 'error[curves-format]: curves are not written as ".pdf"'],
  ])('%j: exit code 2', (args, message) => {
    world.write('nan.json', '[{"image_id": 5, "category_id": 2, "bbox": [1, 1, 1, 1], "score": nan}]');
    const { stdout, stderr, exitCode } = world.run('coco', 'eval', '-g', 'truth.json', '-t', 'bbox', ...args);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 2 });
    expect(stderr).toContain(message);
  });

  it('computes the figures of keypoints, and refuses options of other kinds', () => {
    const points = [10, 10, 2, 20, 20, 2];
    const annotation = {
      id: 1,
      image_id: 1,
      category_id: 1,
      bbox: [5, 5, 40, 40],
      area: 1600,
      iscrowd: 0,
      keypoints: points,
      num_keypoints: 2,
    };
    world.write(
      'points.json',
      JSON.stringify({ images: [{ id: 1, width: 50, height: 50 }], categories: [{ id: 1, name: 'p' }], annotations: [annotation] }),
    );
    world.write('found-points.json', JSON.stringify([{ image_id: 1, category_id: 1, keypoints: points, score: 0.5 }]));
    const files = ['coco', 'eval', '-g', 'points.json', '-d', 'found-points.json', '-t', 'keypoints'];
    const { stdout, exitCode } = world.run(...files, '--sigmas', '0.1,0.1', '--per-class');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^AR75 +1\.0000$/m);
    expect(stdout).not.toContain('APsmall');
    expect(world.run(...files, '--errors').stderr).toContain('error[coco-options]: --errors is not for --type keypoints');
    expect(world.run(...files).stderr).toContain('error[coco-keypoints]: an object has 2 keypoints, and there are 17 standard deviations');
  });
});
