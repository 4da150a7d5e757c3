/** `tanren watch --subset`: the figures on the first images come before those on all, are marked, and are no results of the pipeline. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import { getDefined } from '../../../src/base/invariant.js';
import { buildSubset } from '../../../src/cli/commands/build/watch-subset.js';
import { load } from '../../../src/cli/pipeline/open-plan.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { addSmallClassifier } from '../../support/small-classifier.js';
import { makeTextConsole } from '../../support/text-console.js';

let world: CliWorld;
beforeEach(async () => {
  world = givenProject({});
  await addSmallClassifier(world.folder);
});
afterEach(() => world.remove());

const READY = 'watching; Ctrl-C ends';
const MARK = 'subset: the first 2 images; these figures enter no gate, lock file or history';

/** Artifacts of subsets, and the state that a next build would continue with. Logs stay, as those of a sweep do. */
const subsetFiles = (): readonly string[] =>
  world.listing().filter(line => /^artifacts\/\.subset-|^cache\/state\/\.subset-.*\.log /.test(line));

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
  expect(subsetFiles()).toEqual([]);
});

it('comes first also after an edit that is saved while lost files are restored', async () => {
  const file = world.read('classifier.yaml');
  const run = `[ ! -e ${join(world.folder, 'hold')} ] || { echo x > ${world.makePipe('started')}; cat ${world.makePipe('go')}; }; cp in.txt out.txt`;
  const labels = `  labels:
    uses: command
    with: {run: ['${run}'], shell: sh, inputs: {labels: in.txt}, outputs: {labels: {path: out.txt, kind: file}}}
    inputs: {labels: "\${sources.labels}"}
`;
  world.write('classifier.yaml', file.replaceAll('labels: "${sources.labels}"', 'labels: labels.labels') + labels);
  const watch = world.start('watch', '-f', 'classifier.yaml', '--subset', '2');
  await watch.waitFor(READY);
  world.write('hold', '');
  // What neither artifacts/ nor the cache has runs again, in a check that no edit has asked for.
  const lost = digestBytes(world.read('artifacts/classifier/labels/labels'));
  world.unlink(`cache/cas/${lost.slice(0, 2)}/${lost}`);
  world.unlink('artifacts/classifier/labels/labels');
  await readFile(join(world.folder, 'started'));
  world.unlink('hold');
  world.write(
    'classifier.yaml',
    world.read('classifier.yaml').replace('uses: quantize, inputs', 'uses: quantize, with: {preset: a8w8}, inputs'),
  );
  expect(await watch.waitFor(READY)).toContain('subset of 2 images first: ');
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

describe('a subset that is stopped', () => {
  /** The labels wait for the model, so that something is placed before, and for the pipe `go`, unless the file says `plain`. */
  function addWaiting(): void {
    const file = world.read('classifier.yaml');
    const run = `[ "$MODE" = plain ] || { echo x > ${world.makePipe('started')}; cat ${world.makePipe('go')}; }; cp in.txt out.txt`;
    const labels = `  labels:
    uses: command
    with: {run: ['${run}'], shell: sh, env: {MODE: wait}, inputs: {labels: in.txt, model: m.onnx}, outputs: {labels: {path: out.txt, kind: file}}}
    inputs: {labels: "\${sources.labels}", model: simplify.model}
`;
    world.write('classifier.yaml', `${file.replaceAll('labels: "${sources.labels}"', 'labels: labels.labels')}${labels}`);
  }
  const interruptedSweep = async (): Promise<void> => {
    const sweep = world.start('sweep', '-f', 'classifier.yaml', '-m', 'quantize.preset=a8w8,u8s8', 'classes-int8');
    await sweep.waitFor('✓ quantize~2');
    sweep.signal('SIGINT');
    await sweep.ended;
  };

  it('by an edit leaves nothing, and what an interrupted sweep has stays', async () => {
    addWaiting();
    await interruptedSweep();
    const sweeps = () => world.listing().filter(line => /^artifacts\/\.sweep-|^cache\/state\/\.sweep-/.test(line));
    const before = sweeps();
    expect(before.length).toBeGreaterThan(1);
    const watch = world.start('watch', '-f', 'classifier.yaml', '--subset', '2');
    await readFile(join(world.folder, 'started'));
    expect(subsetFiles()).not.toEqual([]);
    world.write('classifier.yaml', world.read('classifier.yaml').replace('MODE: wait', 'MODE: plain'));
    expect(await watch.waitFor(READY)).toContain(MARK);
    expect(subsetFiles()).toEqual([]);
    expect(sweeps()).toEqual(before);
  });

  it('by Ctrl-C leaves nothing', async () => {
    addWaiting();
    const watch = world.start('watch', '-f', 'classifier.yaml', '--subset', '2');
    await readFile(join(world.folder, 'started'));
    expect(subsetFiles()).not.toEqual([]);
    watch.signal('SIGINT');
    expect(await watch.ended).toBe(130);
    expect(subsetFiles()).toEqual([]);
  });
});

it('a subset that cannot be planned says why', async () => {
  const options = { file: join(world.folder, 'classifier.yaml'), param: [], paramsFile: [] };
  const { plan } = await load(options, 'read-only');
  const console = makeTextConsole();
  world.write('classifier.yaml', world.read('classifier.yaml').replace('uses: simplify', 'uses: simplfy'));
  const revision = { plan: getDefined(plan, 'plan'), targets: 'all' } as const;
  await buildSubset({
    revision,
    images: 2,
    options,
    console,
    signal: new AbortController().signal,
    failedRuns: new Map(),
    before: new Map(),
  });
  expect(console.text()).toMatch(/^no subset of 2 images: .*"simplfy"/);
});

it('says of a data set with fewer images that it has no such subset, and evaluates all', async () => {
  const watch = world.start('watch', '-f', 'classifier.yaml', '--subset', '8');
  const first = await watch.waitFor(READY);
  expect(first).toMatch(/classes-float\s+no figures: 8 images are requested, but the data set has only 4/);
  expect(first).toContain('built: ');
});

it('runs a stage that fails once, not on the subset and again on all, and once more after an edit', async () => {
  const file = world.read('classifier.yaml');
  const failing = (mode: string): string => `  labels:
    uses: command
    with: {run: ['echo $MODE >> ${join(world.folder, 'runs.txt')}; exit 1'], shell: sh, env: {MODE: ${mode}}, inputs: {labels: in.txt, model: m.onnx}, outputs: {labels: {path: out.txt, kind: file}}}
    inputs: {labels: "\${sources.labels}", model: simplify.model}
`;
  const before = file.replaceAll('labels: "${sources.labels}"', 'labels: labels.labels');
  world.write('classifier.yaml', before + failing('first'));
  const watch = world.start('watch', '-f', 'classifier.yaml', '--subset', '2');
  const first = await watch.waitFor(READY);
  expect(first).toMatch(/classes-float\s+no figures/);
  expect(first.slice(first.indexOf(MARK))).toContain('✗ labels');
  expect(world.read('runs.txt')).toBe('first\n');
  world.write('classifier.yaml', before + failing('second'));
  await watch.waitFor(READY);
  expect(world.read('runs.txt')).toBe('first\nsecond\n');
});
