/** `build --report` writes every report, whatever the end of the build. */

import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { checkJunit } from '../../support/junit-schema.js';

const PIPELINE = `version: 1
params: {bound: 1}
stages:
  judge:
    uses: command
    with: {run: ['echo "::set-output name=x::y"; printf "{\\"size\\": 4}" > m.json'], shell: sh, outputs: {metrics: {path: m.json, kind: metrics}}}
    gate: {size: ">= \${bound}"}
  fail:
    uses: command
    with: {run: ['echo "::error::injected" >&2; exit 3'], shell: sh, outputs: {text: out}}
`;

let world: CliWorld;
afterEach(() => world.remove());

const REPORTS = ['--report', 'junit=reports/junit.xml,json=reports/build.json,github,markdown=reports/summary.md'];

it('a failed build has all reports, and what its stages print is no command', () => {
  world = givenProject({ 'pipeline.yaml': PIPELINE });
  const { exitCode, stdout } = world.run('build', '-k', '-p', 'bound=5', ...REPORTS);
  expect(exitCode).toBe(1);
  const root = checkJunit(world.read('reports/junit.xml'));
  expect(root.attributes).toMatchObject({ tests: '3', failures: '2', errors: '0' });
  expect(JSON.parse(world.read('reports/build.json'))).toMatchObject({ conclusion: 'failed', gates: [{ verdict: 'missed' }] });
  expect(world.read('reports/summary.md')).toContain('| ✗ | judge: size | &gt;= 5 | 4 |');

  const lines = stdout.split('\n');
  const token = /^::stop-commands::(.+)$/.exec(lines[0] ?? '')?.[1];
  expect(token).toMatch(/^[0-9a-f-]{36}$/);
  const resumed = lines.indexOf(`::${token}::`);
  expect(resumed).toBeGreaterThan(0);
  expect(lines.slice(resumed + 1).filter(line => line !== '')).toEqual([
    expect.stringMatching(/^::error file=pipeline\.yaml,line=8,.*title=fail%3A command-failed::/),
    expect.stringMatching(
      /^::error file=pipeline\.yaml,line=7,endLine=7,col=\d+,endColumn=\d+,title=gate of judge%3A size >= 5::size is 4, expected >= 5$/,
    ),
  ]);
});

it('a build with nothing to do, and one that is refused, have reports too', () => {
  world = givenProject({ 'pipeline.yaml': PIPELINE });
  world.run('build', 'judge');
  const environment = { GITHUB_STEP_SUMMARY: `${world.folder}/summary.md` };
  const step = world.with({ environment });
  expect(step.run('build', 'judge', '--report', 'markdown', '--base', 'last').exitCode).toBe(0);
  expect(world.read('summary.md')).toContain('#### Changes since r1\n\nnone');
  world.write('pipeline.yaml', 'version: 1\nstages: {x: {uses: nothing}}\n');
  expect(step.run('build', '--report', 'markdown,junit=j.xml').exitCode).toBe(2);
  expect(world.read('summary.md')).toMatch(/^### ✓ [\s\S]*\n### ✗ Tanren: nothing was built\n/);
  expect(checkJunit(world.read('j.xml')).attributes).toMatchObject({ tests: '1', errors: '1' });
});

it.each([
  ['a form that does not exist', ['--report', 'html=x'], 'Expected junit=FILE'],
  ['a summary without a place', ['--report', 'markdown'], 'error[no-step-summary]'],
  ['a base that does not exist', ['--report', 'junit=j.xml', '--base', 'nowhere'], 'error[unknown-revision]'],
])('%s ends with 2, and nothing is built', (_what, args, message) => {
  world = givenProject({ 'pipeline.yaml': PIPELINE }, { GITHUB_STEP_SUMMARY: '' });
  expect(world.run('build', ...args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
  expect(world.exists('artifacts')).toBe(false);
});

it('a report that cannot be written is an error', () => {
  world = givenProject({ 'pipeline.yaml': PIPELINE, taken: 'a file' });
  expect(world.run('build', 'judge', '--report', 'junit=taken/j.xml')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('error['),
  });
  expect(world.exists('artifacts/judge/metrics.json')).toBe(true);
});
