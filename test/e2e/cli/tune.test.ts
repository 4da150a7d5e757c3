/** `tanren tune` on the built command line: the change that it prints, an interrupted search that goes on, and errors in its arguments. */

import { join } from 'node:path';
import { TUNE_DOCUMENT } from '../../../src/report/tune-document.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { parseDocument } from '../../support/parse-document.js';

let world: CliWorld;
afterEach(() => world.remove());

/** `shrink` makes a model of SIZE bytes; `measure` gives accuracy and time by it. Each run adds a line to runs.log. */
function givenShrinking(): CliWorld {
  const made = givenProject({ 'notes.txt': 'the iron is hot\n', 'runs.log': '' });
  const log = `echo run >> ${join(made.folder, 'runs.log')};`;
  made.write(
    'pipeline.yaml',
    `version: 1
params: {mode: plain}
sources: {notes: notes.txt}
stages:
  shrink:
    uses: command
    with:
      run: ['${log} [ "$MODE" != wait ] || cat ${join(made.folder, 'go')}; [ "$MODE" != fail ] || exit 5; [ "$SIZE" != 3 ] || exit 4; head -c "$SIZE" in.txt > m.onnx']
      shell: sh
      env: {SIZE: "8", MODE: "\${mode}"}
      inputs: {text: in.txt}
      outputs: {model: {path: m.onnx, kind: onnx-model}}
    inputs: {text: "\${sources.notes}"}
  measure:
    uses: command
    with:
      run: ['n=$(wc -c < m.onnx); printf "{\\"total\\": {\\"estimatedMs\\": %d}, \\"bbox\\": {\\"AP\\": 0.%d}}" "$n" "$n" > metrics.json']
      shell: sh
      inputs: {model: m.onnx}
      outputs: {metrics: {path: metrics.json, kind: metrics}}
    inputs: {model: shrink.model}
`,
  );
  return made;
}

const SIZES = ['-m', 'shrink.env.SIZE=2,3,5,9'] as const;

it('finds the lowest figure that holds the gate, and prints what to set in the pipeline file', () => {
  world = givenShrinking();
  const { exitCode, stdout } = world.run('tune', '--gate', 'bbox.AP >= 0.4', '--minimize', 'estimatedMs', ...SIZES);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('best: shrink.env.SIZE=5: bbox.AP 0.5000, total.estimatedMs 5');
  expect(stdout).toContain(`  stages:\n    shrink:\n      with:\n        env:\n          SIZE: "5"\n`);
  expect(stdout).toContain('4 of 5 configurations were built; every combination was tried');
  expect(world.exists('pipeline.lock')).toBe(false);
  expect(world.exists('artifacts/.sweep-pipeline')).toBe(false);
});

it('a second search builds nothing, prints the same document, and a gate that nothing holds exits with 1', () => {
  world = givenShrinking();
  const args = ['tune', '--maximize', 'bbox.AP', '--json', '-m', 'shrink.env.SIZE=2,5,9'];
  const first = world.run(...args);
  const runs = world.read('runs.log');
  const second = world.run(...args);
  expect([first.exitCode, second.exitCode, second.stdout]).toEqual([0, 0, first.stdout]);
  expect(world.read('runs.log')).toBe(runs);
  const best = { set: { 'shrink.env.SIZE': '9' }, holds: true, figures: { 'measure.bbox.AP': 0.9 } };
  expect(parseDocument(TUNE_DOCUMENT, JSON.parse(first.stdout))).toMatchObject({
    best,
    objective: { metric: 'measure.bbox.AP', goal: 'maximize' },
  });

  const { exitCode, stdout } = world.run('tune', '--gate', 'bbox.AP >= 0.95', '--minimize', 'size', ...SIZES);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('no configuration holds the gate; the closest: shrink.env.SIZE=9');
});

it('after Ctrl-C it prints the best so far and exits with 130; the same command goes on', async () => {
  world = givenShrinking();
  world.makePipe('go');
  const args = ['tune', '--minimize', 'estimatedMs', '-m', 'shrink.env.SIZE=5', '-m', 'mode=plain,wait'];
  const tune = world.start(...args);
  await tune.waitFor('best so far: shrink.env.SIZE=5');
  tune.signal('SIGINT');
  expect(await tune.ended).toBe(130);
  expect(tune.output()).toContain('best: shrink.env.SIZE=5: total.estimatedMs 5');
});

it('at the end of its time it stops the running work and prints the best so far; with more time the same command goes on from there', () => {
  world = givenShrinking();
  const args = ['tune', '--minimize', 'estimatedMs', '-m', 'shrink.env.SIZE=5'];
  expect(world.run(...args).exitCode).toBe(0);
  const runs = world.read('runs.log');
  // What waits would never end; what was built is only read.
  world.makePipe('go');
  const { exitCode, stdout } = world.run(...args, '-m', 'mode=plain,wait', '--budget', '6s');
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('the time is over: the same command goes on from here, with more time')]);
  // At most the two configurations that wait were started, and none of those that were built.
  expect(world.read('runs.log').slice(runs.length).length).toBeLessThanOrEqual(2 * 'run\n'.length);
});

it('where nothing is built in time, or everything fails, it says so and prints a document without a best configuration', () => {
  world = givenShrinking();
  world.makePipe('go');
  const gate = ['--gate', 'bbox.AP >= 0.4', '--minimize', 'estimatedMs'];
  const late = world.run('tune', ...gate, '-p', 'mode=wait', '-m', 'shrink.env.SIZE=5', '--budget', '2s');
  expect([late.exitCode, late.stdout]).toEqual([1, expect.stringContaining('0 of 0 configurations were built; the time is over')]);
  expect(late.stdout).toContain('no configuration was built');

  // Without gates of any kind, what fails does not hold them either.
  const failing = world.run('tune', '--minimize', 'estimatedMs', '-p', 'mode=fail', '-m', 'shrink.env.SIZE=3,5', '--json');
  expect(failing.exitCode).toBe(1);
  expect(parseDocument(TUNE_DOCUMENT, JSON.parse(failing.stdout))).toMatchObject({
    gates: [],
    objective: { metric: 'estimatedMs' },
    best: null,
    trials: [
      { status: 'failed', holds: false },
      { status: 'failed', holds: false },
      { status: 'failed', holds: false },
    ],
  });
}, 60_000);

it.each([
  ['no objective', [], 'bad-objective'],
  ['both objectives', ['--minimize', 'size', '--maximize', 'bbox.AP'], 'bad-objective'],
  ['a gate without a bound', ['--minimize', 'size', '--gate', 'bbox.AP'], 'bad-gate'],
  ['a budget without a unit', ['--minimize', 'size', '--budget', '10'], 'bad-duration'],
  ['a metric that no stage has', ['--minimize', 'power', ...SIZES], 'unknown-metric'],
  ['a pipeline without settings to vary', ['--minimize', 'size'], 'bad-axis'],
])('%s: exit code 2', (_name, args, code) => {
  world = givenShrinking();
  const { exitCode, stdout, stderr } = world.run('tune', ...args);
  expect([exitCode, stdout + stderr]).toEqual([2, expect.stringContaining(`error[${code}]`)]);
});
