/** The limits of stages: time, memory, environment, priority, retries, and what a failure skips. */
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { isAlive, until } from '../../support/until.js';

let world: CliWorld;
afterEach(() => world.remove());

/** A stage that runs a line of shell and says in `trace` when it begins and ends. */
const stage = (name: string, script: string, more = ''): string =>
  `  ${name}:
    uses: command
    with: {run: ["echo +${name} >> FOLDER/trace; ${script}; echo -${name} >> FOLDER/trace; echo > out.txt"], shell: sh, outputs: {text: out.txt}}
${more}`;

function given(head: string, stages: readonly string[], environment: NodeJS.ProcessEnv = {}): void {
  world = givenProject({}, environment);
  world.write('pipeline.yaml', `version: 1\n${head}stages:\n${stages.join('')}`.replaceAll('FOLDER', world.folder));
}

const trace = (): readonly string[] => world.read('trace').trim().split('\n');

it('a timeout ends all processes of the stage, including those that ignore signals', async () => {
  given('', [stage('slow', "(trap '' TERM; sleep 60) & echo $! > FOLDER/pid; trap '' TERM; sleep 60", '    timeout: 2s\n')]);
  const { exitCode, stdout } = world.run('build');

  expect(exitCode).toBe(1);
  expect(stdout).toContain('error[timeout]: slow: the stage ran longer than its timeout of 2 s, and was killed');
  const pid = Number(world.read('pid'));
  await until(() => !isAlive(pid), 'the end of what the stage started');
});

it('stages that exceed the memory pool together run one after the other; other stages run in parallel', () => {
  const takes = (memory: string): string => `    timeout: 60s\n    resources: {memory: ${memory}}\n`;
  const smallRuns = 'until grep -q +small FOLDER/trace; do sleep 0.02; done';
  given('pools: {memory: 4GB}\n', [
    stage('one', `${smallRuns}; sleep 0.2`, takes('3GB')),
    stage('two', `${smallRuns}; sleep 0.2`, takes('2.5GB')),
    stage('small', 'sleep 0.2'),
  ]);
  expect(world.run('build', '--jobs', '4').exitCode).toBe(0);

  const lines = trace();
  const [first, second] = lines.indexOf('+one') < lines.indexOf('+two') ? ['one', 'two'] : ['two', 'one'];
  expect(lines.indexOf(`-${first}`)).toBeLessThan(lines.indexOf(`+${second}`));
  expect(lines.indexOf('+small')).toBeLessThan(lines.indexOf(`-${first}`));
});

it('stages with a higher priority start first, and so do their dependencies', () => {
  const reads = (name: string): string => `    inputs: {text: ${name}.text}\n    priority: 5\n`;
  const urgent = stage('urgent', ':', reads('base')).replace('outputs:', 'inputs: {text: in.txt}, outputs:');
  const others = [stage('late', 'sleep 1', '    priority: -1\n'), stage('plain', 'sleep 1'), stage('base', 'sleep 1')];
  given('', [...others, urgent]);
  expect(world.run('build', '--jobs', '1').exitCode).toBe(0);

  // Which stage is ready first is chance; by the time that it has ended, all others have been looked at.
  const [, ...started] = trace().filter(line => line.startsWith('+') && line !== '+urgent');
  expect(started).toEqual(['+base', '+plain', '+late'].filter(line => started.includes(line)));
});

it('a stage sees the environment variables that it declares, and no others', () => {
  given('', [stage('look', 'env > FOLDER/seen', '    env: [SHOWN]\n')], { SHOWN: 'yes', HIDDEN_TOKEN: 'no' });
  expect(world.run('build').exitCode).toBe(0);

  expect(world.read('seen')).toContain('SHOWN=yes\n');
  expect(world.read('seen')).not.toContain('HIDDEN_TOKEN');
});

it('a failed attempt is retried after one second, then after two', () => {
  given('', [stage('flaky', 'test $(wc -l < FOLDER/trace) -ge 3 || exit 1', '    retries: 2\n')]);
  const { exitCode, stdout } = world.run('build');

  expect([...stdout.matchAll(/↻ flaky .*next try in (\S+ \S+)/g)].map(match => match[1])).toEqual(['1.0 s', '2.0 s']);
  expect([exitCode, trace()]).toEqual([0, ['+flaky', '+flaky', '+flaky', '-flaky']]);
});

it('failures are reported first, each with the stages skipped because of it', () => {
  const reads = (name: string): string => `    inputs: {text: ${name}.text}\n`;
  const reading = (name: string, of: string): string => stage(name, ':', reads(of)).replace('outputs:', 'inputs: {text: in.txt}, outputs:');
  given('', [
    stage('bad', 'exit 3'),
    reading('next', 'bad'),
    reading('last', 'next'),
    stage('worse', 'exit 4'),
    reading('other', 'worse'),
    stage('good', ':'),
  ]);
  const { exitCode, stdout } = world.run('build', '--keep-going');

  expect(exitCode).toBe(1);
  const end = stdout.slice(stdout.indexOf('\n\n'));
  expect(end).toMatch(
    /error\[command-failed\]: bad: [\s\S]*skipped because it failed: next, last\n[\s\S]*error\[command-failed\]: worse: [\s\S]*skipped because it failed: other\n/,
  );
  expect(end).toContain('failed: 1 executed, 2 failed, 3 skipped');
});
