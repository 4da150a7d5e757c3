/** Metrics whose names contain dots, as class names and outputs of models do: every command shows them, and gates find them. */
import { SWEEP_DOCUMENT } from '../../../src/report/sweep-document.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { parseDocument } from '../../support/parse-document.js';

const score = (five: number, deep: number): string =>
  JSON.stringify({ iou: { 'no. 5': five, 'a.b.c': 0.25 }, values: { 'conv.1': { sqnrDb: deep } } });

/** `judge` prints the figures of score.txt. */
const PROJECT = {
  'score.txt': score(0.5, 30),
  'pipeline.yaml': `version: 1
sources: {score: score.txt}
stages:
  judge:
    uses: command
    with: {run: ['cp score.txt metrics.json; : "$MODE"'], shell: sh, env: {MODE: a}, inputs: {score: score.txt}, outputs: {metrics: {path: metrics.json, kind: metrics}}}
    inputs: {score: "\${sources.score}"}
    gate: {"iou.no. 5": ">= 0.4", iou.a.b.c: "< 0.3"}
`,
} as const;

let world: CliWorld;
beforeEach(() => {
  world = givenProject(PROJECT);
});
afterEach(() => world.remove());

it('the end of a build has them and their gates, and so has metrics', () => {
  const { exitCode, stdout } = world.run('build');
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^iou\.no\. 5 +0\.5000$/m);
  expect(stdout).toMatch(/^iou\.a\.b\.c +0\.2500$/m);
  expect(stdout).not.toContain('conv.1');
  expect(stdout).toContain('gate judge: iou.no. 5 >= 0.4: 0.5000');
  expect(stdout).toContain('gate judge: iou.a.b.c < 0.3: 0.2500');
  expect(world.run('metrics').stdout).toMatch(/^iou\.no\. 5 +0\.5000$/m);
});

it('diff and history compare them from run to run, and with a baseline', () => {
  world.run('build');
  expect(world.run('metrics', '--save', 'first').exitCode).toBe(0);
  world.write('score.txt', score(0.75, 20));
  expect(world.run('build').stdout).toMatch(/^iou\.no\. 5 +0\.7500 was 0\.5000$/m);
  for (const words of [[], ['first']]) expect(world.run('diff', ...words).stdout).toMatch(/iou\.no\. 5 +0\.5000 +0\.7500/);
  expect(world.run('diff').stdout).not.toContain('conv.1');
  const ofStage = world.run('history', 'judge').stdout;
  expect(ofStage).toMatch(/^run +date +iou\.no\. 5 +iou\.a\.b\.c +outcome$/m);
  expect(ofStage).toMatch(/^r1 .* 0\.5000 +0\.2500 /m);
  expect(world.run('history', '--columns', 'iou.no. 5').stdout).toMatch(/^r2 .* 0\.7500 /m);
});

it('history names one with a comma alone, and others before or after it', () => {
  world.write('score.txt', JSON.stringify({ size: 3, 'cup, small': 0.5, lid: 0.25 }));
  world.write('pipeline.yaml', PROJECT['pipeline.yaml'].replace(/ {4}gate: .*\n/, ''));
  world.run('build');
  const { stdout } = world.run('history', '--columns', 'size, lid', '--columns', 'cup, small', '--columns', 'judge.cup, small');
  expect(stdout).toMatch(/^run +date +result +size +lid +cup, small +judge\.cup, small/m);
  expect(stdout).toMatch(/^r1 .* 3 +0\.2500 +0\.5000 +0\.5000/m);
  for (const wrong of ['size,', 'size,cup, small', ''])
    expect(world.run('history', '--columns', wrong)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('error[unknown-metric]'),
    });
});

it('a missed gate shows its value', () => {
  world.write('score.txt', score(0.25, 30));
  const { exitCode, stdout } = world.run('build');
  expect(exitCode).toBe(1);
  expect(stdout).toContain('gate judge: iou.no. 5 >= 0.4: 0.2500 missed');
});

it('a sweep lists them', () => {
  const { exitCode, stdout } = world.run('sweep', '-m', 'judge.env.MODE=a,b', '--maximize', 'iou.no. 5', '--json');
  expect(exitCode).toBe(0);
  for (const { metrics } of parseDocument(SWEEP_DOCUMENT, JSON.parse(stdout)).configurations)
    expect(metrics).toEqual({ 'judge.iou.no. 5': 0.5, 'judge.iou.a.b.c': 0.25 });
});
