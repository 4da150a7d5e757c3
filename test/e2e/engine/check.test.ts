/** What does `build --check` say of stages that give other bytes a second time, and what does it leave as it was? */
import { readFileSync, writeFileSync } from 'node:fs';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { givenWorld, type World } from '../../support/world.js';

/** Three steady stages and what `more` adds. */
const pipeline = (more = ''): string => `version: 1
sources: {text: text.txt}
stages:
  steady:
    uses: command
    with: {run: ["echo run >> $TRACE; tr a-z A-Z < in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}, env: {TRACE: TRACE_PATH}}
    inputs: {text: "\${sources.text}"}
${more}`;
const stage = (name: string, script: string, outputs: string, rest = ''): string => `  ${name}:
    uses: command
    with: {run: ['${script}'], shell: sh, outputs: ${outputs}${rest}}
`;

let project: CliWorld;
afterEach(() => project.remove());

function given(more = ''): void {
  project = givenProject({ 'text.txt': 'iron\n' });
  project.write('pipeline.yaml', pipeline(more).replace('TRACE_PATH', `${project.folder}/trace`));
}

const runs = (): number => project.read('trace').trim().split('\n').length;

describe('build --check', () => {
  it('runs what is new twice, and what has a result once more, and says that the bytes are the same', () => {
    given();
    const first = project.run('build', '--check');
    expect([first.exitCode, runs()]).toEqual([0, 2]);
    expect(first.stdout).toContain('✓ check steady: same bytes');

    const again = project.run('build', '--check');
    expect([again.exitCode, runs()]).toEqual([0, 3]);
    expect(again.stdout).toContain('built: 1 up to date, 1 run once more');

    expect(project.run('build').stdout).toContain('nothing to do');
  });

  it('names the first byte at which a file differs, ends with 1, and leaves the first result in place', () => {
    given(stage('wild', 'printf "the time is " > out.txt; cat /proc/sys/kernel/random/uuid >> out.txt', '{text: out.txt}'));
    const { exitCode, stdout } = project.run('build', '--check');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('✗ check wild: different bytes');
    expect(stdout).toContain('✓ check steady: same bytes');
    expect(stdout).toMatch(/error\[non-deterministic\]: wild: .*\n {2}text: differs from byte 1[2-9] on \(49 bytes\)/);

    const kept = project.read('artifacts/wild/text');
    expect(project.run('build').stdout).toContain('nothing to do: 2 stages up to date');
    expect(project.read('artifacts/wild/text')).toBe(kept);
    project.run('build', '--check');
    expect(project.read('artifacts/wild/text')).toBe(kept);
  });

  it('names what differs in a folder', () => {
    const script = [
      'id=$(cat /proc/sys/kernel/random/uuid)',
      'mkdir -p out/deep',
      'echo same > out/same.txt',
      'echo $id > out/deep/id.txt',
      'echo > out/$id.txt',
      'ln -s $id out/link',
    ].join('; ');
    given(stage('wild', script, '{all: out}'));
    const { exitCode, stdout } = project.run('build', '--check', '--json');
    expect(exitCode).toBe(1);
    const { checks, conclusion } = JSON.parse(stdout);
    expect(conclusion).toBe('not-reproduced');
    expect(checks).toHaveLength(2);
    const { verdict, differences } = checks[1];
    expect(verdict).toBe('different');
    expect(differences.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['bytes', 'form', 'gone', 'new']);
    expect(differences).toContainEqual(expect.objectContaining({ kind: 'bytes', path: 'all/deep/id.txt', sizes: [37, 37] }));
    expect(JSON.stringify(differences)).not.toContain('same.txt');
  });

  it('leaves out by name what measures', () => {
    given(stage('timing', 'cat /proc/sys/kernel/random/uuid > out.txt', '{text: out.txt}', ', determinism: measured'));
    const { exitCode, stdout } = project.run('build', '--check');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('– check timing: left out, as it measures');
  });

  it('says of a second run that fails what it failed of, and keeps its log apart', () => {
    given(stage('once', 'echo hello; test ! -e $MARK && touch $MARK && echo > out.txt', '{text: out.txt}', ', env: {MARK: MARK_PATH}'));
    project.write('pipeline.yaml', project.read('pipeline.yaml').replace('MARK_PATH', `${project.folder}/mark`));
    const { exitCode, stdout } = project.run('build', '--check');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('✗ check once: the second run failed');
    expect(stdout).toContain('error[command-failed]: once: sh ended with exit code 1');
    expect(project.exists('artifacts/once/text')).toBe(true);
    expect(project.run('log', 'once').stdout).toContain('hello');
  });

  it('checks the targets, and builds what they depend on as ever', () => {
    given(stage('other', 'echo other > out.txt', '{text: out.txt}'));
    const { stdout } = project.run('build', 'other', '--check');
    expect(stdout).toContain('check other');
    expect(stdout).not.toContain('check steady');
  });

  it('is no dry run', () => {
    given();
    expect(project.run('build', '--check', '--dry-run').exitCode).toBe(2);
  });
});

describe('the parts of a checked stage', () => {
  let world: World;
  beforeEach(() => {
    project = givenProject({});
    world = givenWorld({}, { 'source.txt': 'one\nfour' });
  });
  afterEach(() => world.remove());

  it('are computed again, and not kept', async () => {
    world.stages = { parts: { uses: 'parts', params: { trace: world.path('trace') }, inputs: { text: 'source.txt' } } };
    await world.build();
    const { report } = await world.build({ check: 'targets' });

    expect(report.checks).toEqual([{ verdict: 'same', stage: 'parts' }]);
    expect(world.read('trace').trim().split('\n')).toHaveLength(4);
  });

  it('are named where they differ from the kept ones, which stay', async () => {
    const letters = readFileSync(`${world.plugins}/letters.mjs`, 'utf8');
    writeFileSync(`${world.plugins}/letters.mjs`, letters.replace('String(', 'process.hrtime.bigint() + String('));
    world.stages = { parts: { uses: 'parts', inputs: { text: 'source.txt' } } };
    await world.build();
    const first = world.read('artifacts/parts/text');
    const { report, warnings } = await world.build({ check: 'targets' });

    expect(report.conclusion).toBe('not-reproduced');
    expect(report.checks[0]).toMatchObject({
      verdict: 'different',
      differences: [{ kind: 'bytes', path: 'text' }, { kind: 'part', path: 'part letters: letters' }, { kind: 'part' }],
    });
    expect(warnings).toEqual([]);

    world.stages = { parts: { uses: 'parts', inputs: { text: 'source.txt' }, params: { other: 1 } } };
    await world.build();
    expect(world.read('artifacts/parts/text')).toBe(first);
  });
});
