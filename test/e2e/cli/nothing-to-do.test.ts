/** "Nothing to do" is said at once where it is true, in the words of an ordinary build, and never where anything has changed. */
import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, openSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';
import { type Launcher, makeLauncher } from '../../support/launcher.js';
import { DIST } from '../../support/world.js';

const RECORD = 'cache/state/pipeline.no-op';

function withoutTime(text: string | undefined): string | undefined {
  return text?.replace(/\(\d+(\.\d+)? m?s\)/g, '(…)');
}

describe('a build with nothing to do', () => {
  let launcher: Launcher;
  let world: CliWorld;
  const answer = (args: readonly string[] = ['build'], environment: NodeJS.ProcessEnv = {}) => launcher.run(world, args, environment);
  const build = (...args: readonly string[]): void => {
    const { exitCode, stdout, stderr } = world.run('build', ...args);
    if (exitCode !== 0) throw new Error(stdout + stderr);
  };

  beforeAll(() => {
    launcher = makeLauncher();
    const pipeline = TEXT_PROJECT['pipeline.yaml']
      .replace('  judge:\n', '  judge:\n    env: [TASTE]\n')
      .replace('score: score.txt}\n', 'score: score.txt, words: words}\n');
    world = givenProject({
      ...TEXT_PROJECT,
      'pipeline.yaml': `${pipeline}  weigh: {uses: command, with: {run: ["cp -r words out"], shell: sh, inputs: {words: words}, outputs: {out: out}}, inputs: {words: "\${sources.words}"}}\n`,
      'words/one.txt': 'one\n',
      'words/more/two.txt': 'two\n',
      'all.yaml': 'least: 2\n',
      'bin/sh': '#!/bin/sh\nexec /bin/sh "$@"\n',
    });
    chmodSync(join(world.folder, 'bin/sh'), 0o755);
    build();
  });
  afterAll(() => {
    world.remove();
    launcher.remove();
  });

  it('prints the same as an ordinary build, and writes nothing', () => {
    const before = world.listing();
    const atOnce = answer();
    expect(world.listing()).toEqual(before);

    world.unlink(RECORD);
    const ordinary = world.run('build').stdout;
    expect(atOnce).toContain('nothing to do: 5 stages up to date');
    expect(atOnce).toContain('gate judge: quality.words >= 1: 3');
    expect(withoutTime(atOnce)).toBe(withoutTime(ordinary));
  });

  it('is given again by the build after next if the record is lost, as by a kill before it was written', () => {
    world.unlink(RECORD);
    expect(answer()).toBeUndefined();
    build();
    expect(answer()).toContain('nothing to do: 5 stages up to date');
  });

  const ifLinux = process.platform === 'linux' ? it : it.skip;
  ifLinux('is no success where it cannot be said', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [join(DIST, 'bin/tanren.js'), 'build'], {
      cwd: world.folder,
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    expect([status, stderr]).toEqual([1, expect.stringContaining('error[output-not-written]')]);
  });

  it('prints in color on request', () => {
    expect(answer(['build'], { NO_COLOR: '', FORCE_COLOR: '1' })).toContain('\u001b[32mnothing to do');
  });

  it.each<[string, readonly string[]]>([
    ['-j 4 -k', ['build', '-j', '4', '-k']],
    ['--file pipeline.yaml', ['build', '--file', 'pipeline.yaml']],
  ])('answers %s', (_what, args) => expect(answer(args)).toContain('nothing to do'));

  it.each<[string, readonly string[]]>([
    ['another parameter', ['build', '-p', 'least=2']],
    ['a params file', ['build', '--params-file', 'all.yaml']],
    ['one target', ['build', 'shout']],
    ['--force', ['build', '--force']],
    ['--json', ['build', '--json']],
    ['--dry-run', ['build', '--dry-run']],
    ['an unknown option', ['build', '--color']],
    ['another command', ['status']],
  ])('leaves %s to the command line', (_what, args) => expect(answer(args)).toBeUndefined());

  it.each<[string, NodeJS.ProcessEnv]>([
    ['a declared variable', { TASTE: 'sour' }],
    ['a setting of ours', { TANREN_ANYTHING: '1' }],
  ])('looks again when %s is set', (_what, environment) => expect(answer(['build'], environment)).toBeUndefined());

  it('checks again when another program of that name comes first on the PATH', () => {
    expect(answer(['build'], { PATH: `${join(world.folder, 'bin')}:${process.env.PATH}` })).toBeUndefined();
  });

  const path = (name: string): string => join(world.folder, name);
  it.each<[string, () => void]>([
    [
      'a source was edited, its size and time kept',
      () => {
        const { atime, mtime } = statSync(path('notes.txt'));
        writeFileSync(path('notes.txt'), 'froge\n');
        utimesSync(path('notes.txt'), atime, mtime);
      },
    ],
    ['a file came into a source folder', () => world.write('words/more/three.txt', 'three\n')],
    ['an artifact was edited', () => world.write('artifacts/shout/text', 'no\n')],
    ['an artifact is gone', () => world.unlink('artifacts/shout/text')],
    ['a foreign file lies beside an artifact', () => world.write('artifacts/shout/foreign', '')],
    ['a foreign file lies in an artifact', () => world.write('artifacts/weigh/out/more/foreign', '')],
    ['the pipeline file was saved', () => world.saveByRename('pipeline.yaml', `${world.read('pipeline.yaml')}# a line\n`)],
    ['another pipeline came', () => world.write('pipelines/other.yaml', 'version: 1\nstages: {}\n')],
    ['the state was written to', () => writeFileSync(path('cache/state/pipeline.log'), '\n', { flag: 'a' })],
    ['the no-op record is cut', () => truncateSync(path(RECORD), 600)],
    [
      'a byte of the no-op record changes',
      () => {
        const bytes = readFileSync(path(RECORD));
        bytes[400] = (bytes[400] ?? 0) ^ 1;
        writeFileSync(path(RECORD), bytes);
      },
    ],
  ])('looks again when %s', (_what, change) => {
    build('--force');
    expect(answer()).toBeDefined();

    change();

    expect(answer()).toBeUndefined();
  });

  it('checks again when a second file has the same pipeline name', () => {
    build('--force');
    world.write('pipeline.yml', 'stages: {}\n');
    try {
      expect(answer()).toBeUndefined();
      expect(world.run('build').stderr).toContain('error[name-collision]');
    } finally {
      world.unlink('pipeline.yml');
    }
  });

  it('has a no-op record for the targets and parameters that were built last', () => {
    build('shout', '--force');
    expect([answer(), answer(['build', 'shout'])]).toEqual([undefined, expect.stringContaining('1 stage up to date')]);
    build('-p', 'mode=lower');
    expect([answer(), answer(['build', '-p', 'mode=lower'])]).toEqual([undefined, expect.stringContaining('nothing to do')]);
  });

  it('has no no-op record if a gate is missed, a stage has failed, or the pipeline file has warnings', () => {
    const make = (least: number, run: string, head = ''): boolean => {
      const other = givenProject({
        'pipeline.yaml': `version: 1\n${head}stages:\n  a: {uses: command, with: {run: ["${run}"], shell: sh, outputs: {m: {path: m.json, kind: metrics}}}, gate: {n: ">= ${least}"}}\n`,
      });
      for (const _ of ['executes', 'finds nothing to do']) other.run('build');
      const recorded = other.exists(RECORD);
      other.remove();
      return recorded;
    };
    const write = 'echo \'{\\"n\\": 3}\' > m.json';

    expect([make(3, write), make(4, write), make(3, 'false'), make(3, write, 'params: {unused: 1}\n')]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('a build with nothing to do and thousands of paths', () => {
  it('answers at once, and an ordinary build follows where one of them changed', () => {
    const launcher = makeLauncher();
    const names = Array.from({ length: 1_300 }, (_, index) => `words/${index}.txt`);
    const world = givenProject({
      'pipeline.yaml': `version: 1
sources: {words: words}
stages:
  count: {uses: command, with: {run: ["ls words | wc -l > out"], shell: sh, inputs: {words: words}, outputs: {out: out}}, inputs: {words: "\${sources.words}"}}
`,
      ...Object.fromEntries(names.map(name => [name, ''])),
    });
    try {
      for (const _ of ['executes', 'finds nothing to do']) world.run('build');
      expect(launcher.run(world, ['build'])).toContain('nothing to do: 1 stage up to date');

      world.write('words/one-more.txt', '');
      expect(launcher.run(world, ['build'])).toBeUndefined();
      expect(world.run('build').stdout).toContain('1 executed');
      expect(world.read('artifacts/count/out').trim()).toBe('1301');
    } finally {
      world.remove();
      launcher.remove();
    }
  });
});
