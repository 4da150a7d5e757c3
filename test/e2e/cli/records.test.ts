/** Figures of builds compared with runs, baselines and git revisions, through the command line in a repository. */
import { execFileSync, spawnSync } from 'node:child_process';
import { type CliWorld, givenProject } from '../../support/cli-world.js';

const PIPELINE = `version: 1
params: {scale: 2, least: 1}
sources: {notes: notes.txt, extra: extra.txt}
stages:
  join:
    uses: command
    with: {run: [sh, -c, "cat a b > out"], inputs: {a: a, b: b}, outputs: {text: out}}
    inputs: {a: "\${sources.notes}", b: "\${sources.extra}"}
  judge:
    uses: command
    with:
      run: ['printf "{\\"size\\": %d, \\"deep\\": {\\"er\\": {\\"still\\": 1}}}" $(( \${scale} * $(wc -c < in) )) > m.json']
      shell: sh
      inputs: {text: in}
      outputs: {metrics: {path: m.json, kind: metrics}}
    inputs: {text: join.text}
    gate: {size: ">= \${least}"}
`;
const FILES = {
  'notes.txt': 'four',
  'extra.txt': 'e',
  'pipeline.yaml': PIPELINE,
  '.gitignore': 'cache\nartifacts\nextra.txt\npipeline.lock\n',
};

let world: CliWorld;
afterEach(() => world.remove());

const hasGit = spawnSync('git', ['--version']).status === 0;
if (!hasGit) process.stderr.write('skipped: git is not here, so diff against revisions is not tested\n');

/** @returns the commit. */
function commit(message: string): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false', ...args], {
      cwd: world.folder,
      encoding: 'utf8',
    });
  if (!world.exists('.git')) git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', message);
  return git('rev-parse', 'HEAD').trim();
}

describe('metrics, diff and history', () => {
  it('compare with the previous run, a named run and a baseline', () => {
    world = givenProject(FILES);
    expect(world.run('diff')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('error[no-such-run]') });
    expect(world.run('build').exitCode).toBe(0);
    expect(world.run('metrics', '--save', 'first').stdout).toContain('wrote baselines/first.json');
    world.write('notes.txt', 'seven77');
    expect(world.run('build', '-p', 'scale=3').exitCode).toBe(0);
    const before = world.listing();

    for (const [name, ...args] of [['r1'], ['r1', 'r1'], ['r1', 'last~1..last'], ['baseline first', 'first']]) {
      const { exitCode, stdout } = world.run('diff', ...args);
      expect({ exitCode, head: stdout.split('\n')[0]?.trim().split(/ {2,}/)[0] }).toEqual({ exitCode: 0, head: name });
      expect(
        stdout
          .replaceAll('baseline first', 'r1')
          .split('\n')
          .map(line => line.replace(/ +/g, ' ')),
      ).toEqual(expect.arrayContaining(['params', ' scale 2 3', 'judge', ' size 10 24 +14', ' gate size >= 1 ✓ 10 ✓ 24']));
    }
    expect(world.run('diff', 'r1', 'join').stdout).not.toContain('size');
    const document = JSON.parse(world.run('diff', '--json').stdout);
    expect(document).toMatchObject({ before: 'r1', after: 'now', params: [{ label: 'scale', before: 2, after: 3 }] });
    expect(JSON.parse(world.run('metrics', '--json').stdout)).toMatchObject({
      stages: [{ stage: 'judge', metrics: { size: 24 } }],
      gates: [{ verdict: 'met' }],
    });
    expect(world.listing()).toEqual(before);

    const { stdout } = world.run('profile', 'r1', '-o', 'trace.json');
    expect(stdout).toMatch(/^r1, .*: built: 2 executed/);
    expect(stdout).toContain('wrote trace.json');
    const { traceEvents } = JSON.parse(world.read('trace.json'));
    expect(
      traceEvents.flatMap((event: { readonly cat?: string; readonly name: string }) =>
        event.cat === 'slot,critical-path' ? [event.name] : [],
      ),
    ).toEqual(['join', 'judge']);
    expect(JSON.parse(world.run('profile', '--json').stdout)).toMatchObject({
      run: 'r2',
      criticalPath: [{ stage: 'join' }, { stage: 'judge' }],
    });
  });

  it('tell runs apart by what changed, with chosen figures as columns', () => {
    world = givenProject(FILES);
    world.run('build');
    world.write('notes.txt', 'seven77');
    world.run('build');
    world.run('build', '-p', 'scale=3');
    world.write('pipeline.yaml', PIPELINE.replace('cat a b', 'cat b a'));
    world.run('build', '-p', 'scale=3');
    const told = world
      .run('history')
      .stdout.split('\n')
      .map(line => line.split(' ms)')[1]?.trim());
    expect(told.slice(0, 4)).toEqual([
      'never built',
      'source notes.txt changed',
      '-p scale=3',
      expect.stringMatching(/^join: run\.2: .* {2}-p scale=3$|^join: run: .* {2}-p scale=3$/),
    ]);
    const listed = world.run('history', '--columns', 'size,judge.size').stdout.split('\n');
    expect(listed[0]).toMatch(/^run +date +result +size +judge\.size$/);
    expect(
      listed.slice(1, 5).map(line =>
        line
          .replace(/.* ms\) +/, '')
          .split(/ +/)
          .slice(0, 2),
      ),
    ).toEqual([
      ['10', '10'],
      ['16', '16'],
      ['24', '24'],
      ['24', '24'],
    ]);
    expect(JSON.parse(world.run('history', '--json', '--columns', 'size', '-n', '1').stdout)).toMatchObject({
      runs: [{ run: 'r4', columns: { size: 24 }, changes: [expect.any(String), '-p scale=3'] }],
    });
    expect(world.run('history', '--columns', 'sise')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('error[unknown-metric]: no run in the history has a metric "sise"\n  help: did you mean "size"?'),
    });
  });

  it('mark figures of an outdated result, which are not those of now', () => {
    world = givenProject(FILES);
    world.run('build');
    world.write('notes.txt', 'seven77');
    world.run('build', '-p', 'scale=3');
    const before = world.listing();
    const fresh = [world.run('metrics').stdout, world.run('diff').stdout];
    world.write('notes.txt', 'edited');
    const edited = [world.run('metrics').stdout, world.run('diff').stdout];

    expect(fresh.join()).not.toContain('outdated');
    expect(fresh[1]).toMatch(/^ +r1 +now$/m);
    expect(edited[0]).toMatch(/judge \(outdated\)\nsize +24\n[\s\S]*✓ gate judge \(outdated\): size >= 1: 24\n\n\(outdated\): /);
    expect(edited[1]).toMatch(/^ +r1 +last results$/m);
    expect(edited[1]).toContain('judge (outdated)\n');
    expect(edited[1]).not.toMatch(/\bnow\b/);
    expect(JSON.parse(world.run('metrics', '--json').stdout).stages).toEqual([
      { stage: 'judge', metrics: expect.anything(), outdated: true },
    ]);
    expect(JSON.parse(world.run('diff', '--json').stdout)).toMatchObject({ after: 'last results', stages: [{ outdated: true }] });
    // With another parameter the results are those of another request.
    world.write('notes.txt', 'seven77');
    expect(world.run('metrics', '-p', 'scale=2').stdout).toContain('judge (outdated)');
    expect(world.listing().filter(line => !line.startsWith('notes.txt'))).toEqual(before.filter(line => !line.startsWith('notes.txt')));
  });

  it('report why a name is invalid', () => {
    world = givenProject(FILES);
    world.run('build');
    expect(world.run('log', 'judge', '--run', 'r1').stdout).toBe('judge wrote nothing in r1\n');
    for (const [args, code] of [
      [['diff', 'nothing'], 'unknown-revision'],
      [['diff', 'r1', 'nothing'], 'unknown-stage'],
      [['metrics', '--save', '../x'], 'bad-baseline-name'],
      [['history', 'nothing'], 'unknown-stage'],
      [['log', 'judge', '--run', 'r9'], 'no-such-run'],
      [['profile', '-o', 'no/such/folder/t.json'], 'not-writable'],
    ] as const) {
      expect(world.run(...args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`error[${code}]`) });
    }
    expect(world.exists('../x.json')).toBe(false);
  });
});

(hasGit ? describe : describe.skip)('in a repository', () => {
  it('metrics at a revision are those of the content at that revision, independent of the current files', () => {
    world = givenProject(FILES);
    const first = commit('one');
    world.run('build');
    world.write('notes.txt', 'changed, and built before it is committed');
    world.run('build');
    expect(world.run('diff', 'HEAD').stdout).toMatch(/size +10 +\d+ +\+/);
    expect(world.run('history').stdout).toContain(`at ${first.slice(0, 7)} (main)`);

    const marks = world.run('history').stdout.split('\n');
    expect([marks[1]?.includes(`at ${first.slice(0, 7)}+ (main)`), marks[2]]).toEqual([
      true,
      expect.stringMatching(/^\+: files of the project/),
    ]);

    const second = commit('two');
    const same = world.run('diff', 'HEAD').stdout;
    expect(same).toContain(`${second.slice(0, 7)} and now: no difference`);
    expect(same).toContain('note: ');
    expect(same).toContain('extra');
    world.write('pipeline.yaml', PIPELINE.replace('scale: 2', 'scale: 5'));
    world.write('notes.txt', 'x');
    commit('three');
    const { stdout } = world.run('diff', `${second}..HEAD`);
    expect(stdout).toMatch(/scale +2 +5/);
    expect(stdout).toContain('unknown for');
    expect(stdout).not.toContain('gate');

    world.write('pipeline.yaml', 'version: 1\nstages: {}\n');
    commit('broken');
    world.write('pipeline.yaml', PIPELINE);
    expect(world.run('diff', 'HEAD')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('error[revision-unreadable]') });
  });

  it('a committed lock gives the metrics after the history was deleted', () => {
    world = givenProject({ ...FILES, '.gitignore': 'cache\nartifacts\n' });
    world.run('build');
    commit('locked');
    world.write('notes.txt', 'longer than before');
    world.run('build');
    world.unlink('cache/history/pipeline.log');
    expect(world.run('diff', 'HEAD').stdout).toMatch(/size +10 +38 +\+28/);
  });
});
