/** `tanren watch --subset`: the figures on the first images come before those on all, are marked, and are no results of the pipeline. */
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { addSmallClassifier } from '../../support/small-classifier.js';

let world: CliWorld;
beforeEach(async () => {
  world = givenProject({});
  await addSmallClassifier(world.folder);
});
afterEach(() => world.remove());

const READY = 'watching; Ctrl-C ends';
const MARK = 'subset: the first 2 images; these figures enter no gate, lock file or history';

interface Metrics {
  readonly images: number;
  readonly top1: number;
}

it('evaluates the first images before all, and of the stages that run after an edit only', async () => {
  const watch = world.start('watch', '-f', 'classifier.yaml', '--subset', '2');
  const first = await watch.waitFor(READY);
  expect(first).toContain('subset of 2 images first: classes-float, classes-int8');
  expect(first.indexOf(MARK)).toBeGreaterThan(0);
  expect(first.indexOf(MARK)).toBeLessThan(first.indexOf('built: '));
  // Of the first two images by name, one has a wrong label; of all four too.
  expect(first).toMatch(/classes-float\s+top-1 accuracy 50 %/);
  const whole = world.read('artifacts/classifier/classes-float/metrics.json');
  expect(JSON.parse(whole) as Metrics).toMatchObject({ images: 4, top1: 0.75 });

  const file = world.read('classifier.yaml');
  world.write('classifier.yaml', file.replace('uses: quantize, inputs', 'uses: quantize, with: {preset: a8w8}, inputs'));
  const second = await watch.waitFor(READY);
  expect(second).toContain('subset of 2 images first: classes-int8\n');
  expect(second).toMatch(/classes-int8\s+top-1 accuracy 50 % \(\+0\.0000\), top-5/);
  const runs = JSON.parse(world.run('history', '-f', 'classifier.yaml', '--json').stdout) as { readonly runs: readonly unknown[] };
  expect(runs.runs).toHaveLength(2);
  expect(world.exists('artifacts/.sweep-classifier')).toBe(false);
});

it('evaluates no subset where all images are no more, or nothing is to be evaluated', async () => {
  const file = world.read('classifier.yaml');
  world.write(
    'classifier.yaml',
    file
      .replaceAll('uses: evaluate-classes, with: {preprocess', 'uses: evaluate-classes, with: {samples: 2, preprocess')
      .replace('with: {preprocess: {}}\n    inputs: {model: quantize', 'with: {samples: 2, preprocess: {}}\n    inputs: {model: quantize'),
  );
  const watch = world.start('watch', '-f', 'classifier.yaml', '--subset', '2');
  expect(await watch.waitFor(READY)).not.toContain('subset');
});
