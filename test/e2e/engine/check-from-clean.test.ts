/** `build --check --from-clean`: what only another folder, or another clean build, shows. */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CliWorld, givenProject } from '../../support/cli-world.js';

const stage = (name: string, script: string, rest = ''): string => `  ${name}:
    uses: command
    with: {run: ['${script}'], shell: sh, outputs: {text: out}${rest}}
`;
/** The project folder, which a second run in the same project shares. */
const PATH = 'pwd -P | sed "s#/cache/.*##" > out';

let project: CliWorld;
let temporary: string;
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'tanren-check-'));
});
afterEach(() => {
  project.remove();
  rmSync(temporary, { recursive: true });
});

function given(stages: string): void {
  project = givenProject(
    { 'pipeline.yaml': `version: 1\nsources: {folder: data, text: notes.txt}\nstages:\n${stages}` },
    { TMPDIR: temporary },
  );
  project.write('data/deep/a.txt', 'a');
  project.write('notes.txt', 'b');
  project.write('tool.sh', '#!/bin/sh\ncat "$1" > out\n');
  chmodSync(join(project.folder, 'tool.sh'), 0o755);
}

interface Check {
  readonly stage: string;
  readonly verdict: string;
  readonly build?: string;
  readonly because?: string;
}

const STEADY = `  steady:
    uses: command
    with: {run: [./tool.sh, in/deep/a.txt], tools: [./tool.sh], inputs: {folder: in, tool: tool.sh}, outputs: {text: out}}
    inputs: {folder: "\${sources.folder}", tool: "\${sources.tool}"}
`;

function checks(): { readonly exitCode: number | null; readonly checks: readonly Check[] } {
  const { exitCode, stdout } = project.run('build', '--check', '--from-clean', '--json', '-j', '1');
  return { exitCode, checks: (JSON.parse(stdout) as { checks: readonly Check[] }).checks };
}

it('finds equal bytes in other folders, with other jobs and from the cache, and leaves nothing', () => {
  given(STEADY);
  project.write('pipeline.yaml', project.read('pipeline.yaml').replace('text: notes.txt', 'text: notes.txt, tool: tool.sh'));
  const { exitCode, stdout, stderr } = project.run('build', '--check', '--from-clean');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.match(/^▸ a .*$/gm)).toEqual([
    '▸ a clean build in another folder with 1 job',
    expect.stringMatching(/^▸ a clean build in a longer path with \d+ jobs$/),
    '▸ a build from the cache of the first clean one',
  ]);
  expect(stdout.match(/steady +executed/g)).toHaveLength(3);
  expect(stdout.match(/steady +restored/g)).toHaveLength(1);
  expect(stdout).toContain('✓ check steady: same bytes');
  expect(readdirSync(temporary)).toEqual([]);
  expect(project.run('build').stdout).toContain('nothing to do');
});

it('names the outputs that differ with the folder, which a second run in place does not find, and the stages that cannot be compared', () => {
  given(
    stage('path', PATH) +
      '  after:\n    uses: command\n    with: {run: [sh, -c, "cat in > out"], inputs: {text: in}, outputs: {text: out}}\n    inputs: {text: path.text}\n' +
      stage('measures', 'date +%N > out', ', determinism: measured') +
      '  reads:\n    uses: command\n    with: {run: [sh, -c, "cat in > out"], inputs: {text: in}, outputs: {text: out}}\n    inputs: {text: measures.text}\n',
  );
  expect(project.run('build', '--check', 'path').exitCode).toBe(0);
  const { exitCode, checks: found } = checks();
  expect(exitCode).toBe(1);
  expect(found).toEqual([
    expect.objectContaining({
      stage: 'path',
      verdict: 'different',
      build: 'a clean build in another folder with 1 job',
      differences: [expect.objectContaining({ kind: 'bytes', path: 'text' })],
    }),
    expect.objectContaining({ stage: 'after', verdict: 'not-compared', because: 'path' }),
    { stage: 'measures', verdict: 'measured' },
    expect.objectContaining({ stage: 'reads', verdict: 'not-compared', because: 'measures' }),
  ]);
  const text = project.run('build', '--check', '--from-clean').stdout;
  expect(text).toContain(
    'error[non-deterministic]: path: a clean build in another folder with 1 job gave different bytes\n  text: differs from byte ',
  );
  expect(readdirSync(temporary)).toEqual([]);
});

it('finds a stage that fails in a clean build', () => {
  given(stage('first', `test -e ${tmpdir()}/$(basename $(pwd | sed "s#/cache/.*##")) && echo 1 > out`));
  const { exitCode, checks: found } = checks();
  expect([exitCode, found[0]?.verdict]).toEqual([1, 'failed']);
});

it('is a form of --check', () => {
  given(stage('one', 'echo 1 > out'));
  expect(project.run('build', '--from-clean')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('error[invalid-argument]') });
});
