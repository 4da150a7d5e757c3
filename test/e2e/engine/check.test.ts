/** What `build --check` says of stages whose second run gives other bytes, and what it leaves as it was. */
import { readFileSync, writeFileSync } from 'node:fs';
import { type CliResult, type CliWorld, givenProject } from '../../support/cli-world.js';
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

interface Check {
  readonly stage: string;
  readonly verdict: string;
  readonly differences?: readonly { readonly kind: string }[];
}

describe('build --check', () => {
  it('runs new stages twice and stages with a result once more, and reports that the bytes are equal', () => {
    given();
    const first = project.run('build', '--check');
    expect([first.exitCode, runs()]).toEqual([0, 2]);
    expect(first.stdout).toContain('✓ check steady: same bytes');

    const again = project.run('build', '--check');
    expect([again.exitCode, runs()]).toEqual([0, 3]);
    expect(again.stdout).toContain('built: 1 up to date, 1 run once more');

    expect(project.run('build').stdout).toContain('nothing to do');
  });

  describe('with stages that differ, measure or fail', () => {
    let built: CliResult;
    let report: { readonly conclusion: string; readonly checks: readonly Check[] };
    const check = (stage: string): Check | undefined => report.checks.find(one => one.stage === stage);

    beforeEach(() => {
      const folder = [
        'id=$(cat /proc/sys/kernel/random/uuid)',
        'mkdir -p out/deep',
        'echo same > out/same.txt',
        'echo $id > out/deep/id.txt',
        'echo > out/$id.txt',
        'ln -s $id out/link',
      ].join('; ');
      given(
        [
          stage('wild', 'printf "the time is " > out.txt; cat /proc/sys/kernel/random/uuid >> out.txt', '{text: out.txt}'),
          stage('folder', folder, '{all: out}'),
          stage('timing', 'cat /proc/sys/kernel/random/uuid > out.txt', '{text: out.txt}', ', determinism: measured'),
          stage('once', 'echo hello; test ! -e $MARK && touch $MARK && echo > out.txt', '{text: out.txt}', ', env: {MARK: MARK_PATH}'),
        ].join(''),
      );
      project.write('pipeline.yaml', project.read('pipeline.yaml').replace('MARK_PATH', `${project.folder}/mark`));
    });

    it('reports the first differing byte, the omitted stages and the failures; the first results are kept', () => {
      built = project.run('build', '--check');
      expect(built.exitCode).toBe(1);
      for (const line of [
        '✓ check steady: same bytes',
        '✗ check wild: different bytes',
        '✗ check folder: different bytes',
        '– check timing: not compared, because it measures',
        '✗ check once: the second run failed',
        'error[command-failed]: once: sh ended with exit code 1',
      ])
        expect(built.stdout).toContain(line);
      expect(built.stdout).toMatch(/error\[non-deterministic\]: wild: .*\n {2}text: differs from byte 1[2-9] on \(49 bytes\)/);
      const kept = project.read('artifacts/wild/text');
      expect(project.exists('artifacts/once/text')).toBe(true);
      expect(project.run('log', 'once').stdout).toBe('hello\n');
      expect(project.run('build').stdout).toContain('nothing to do: 5 stages up to date');
      expect(project.read('artifacts/wild/text')).toBe(kept);
    });

    it('reports as JSON the added, removed and changed files of a folder', () => {
      built = project.run('build', 'folder', '--check', '--json');
      report = JSON.parse(built.stdout);
      expect([report.conclusion, report.checks.length]).toEqual(['not-reproduced', 1]);
      const { verdict, differences = [] } = check('folder') ?? {};
      expect(verdict).toBe('different');
      expect(differences.map(({ kind }) => kind).sort()).toEqual(['bytes', 'form', 'missing', 'new']);
      expect(differences).toContainEqual(expect.objectContaining({ kind: 'bytes', path: 'all/deep/id.txt', sizes: [37, 37] }));
      expect(JSON.stringify(differences)).not.toContain('same.txt');
    });
  });

  it('checks the targets, and builds their dependencies without a check', () => {
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
