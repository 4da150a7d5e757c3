/** `affected`: the stages that a change since a Git revision reaches. What a build then runs is the oracle. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type CliWorld, givenProject } from '../../support/cli-world.js';

const PIPELINE = `version: 1
params: {word: one}
plugins: {echo: ./plugins/echo.js}
sources: {notes: notes.txt, folder: data, secret: ignored.txt}
stages:
  first:
    uses: command
    with: {run: [sh, -c, "cat a > out; echo \${word} >> out"], inputs: {a: a}, outputs: {text: out}}
    inputs: {a: "\${sources.notes}"}
  second:
    uses: command
    with: {run: [sh, -c, "cat in secret > out"], inputs: {text: in, secret: secret}, outputs: {text: out}}
    inputs: {text: first.text, secret: "\${sources.secret}"}
  listed:
    uses: command
    with: {run: [sh, -c, "ls -R in > out; cat in/* >> out"], inputs: {folder: in}, outputs: {text: out}}
    inputs: {folder: "\${sources.folder}"}
  own:
    uses: echo
`;
const PLUGIN = `import { word } from './word.js';
import { writeFileSync } from 'node:fs';
export const echo = {
  name: 'echo', version: 1, description: 'Writes a word.', params: { type: 'object', properties: {}, additionalProperties: false },
  inputs: {}, outputs: { text: { kind: 'any', optional: false, entries: undefined, entryKinds: {}, description: '' } }, determinism: 'exact', runsModels: 'never', isolation: 'worker',
  run: async ({ outputs }) => writeFileSync(outputs.text, word),
};
`;
const FILES = {
  'notes.txt': 'four',
  'ignored.txt': 'not in git',
  'data/a.txt': 'a',
  'data/b.txt': 'b',
  'pipeline.yaml': PIPELINE,
  'plugins/echo.js': PLUGIN,
  'plugins/word.js': "export const word = 'x';\n",
  'package.json': '{"name": "p", "type": "module", "description": "one"}\n',
  '.gitignore': 'cache\nartifacts\nignored.txt\npipeline.lock\n',
};

let world: CliWorld;
afterEach(() => world.remove());

const hasGit = spawnSync('git', ['--version']).status === 0;
if (!hasGit) process.stderr.write('skipped: git is not here, so affected is not tested\n');

function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', [...identity, ...args], { cwd: world.folder, encoding: 'utf8' }).trim();
}

function givenCommitted(): string {
  world = givenProject(FILES);
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'one');
  return git('rev-parse', 'HEAD');
}

function namesSince(base: string): readonly string[] {
  const { exitCode, stdout, stderr } = world.run('affected', '--base', base, '--names');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout.split('\n').filter(line => line !== '');
}

function executed(): readonly string[] {
  const { exitCode, stdout } = world.run('build', '--json');
  expect(exitCode).toBe(0);
  const { stages } = JSON.parse(stdout) as { stages: readonly { stage: string; outcome: { kind: string } }[] };
  return stages.filter(({ outcome }) => outcome.kind === 'executed').map(({ stage }) => stage);
}

const SAME = PIPELINE.replace('version: 1\n', 'version: 1\n# a comment\n');

(hasGit ? describe : describe.skip)('affected', () => {
  it.each<[what: string, change: () => void, listed: readonly string[], ran?: readonly string[]]>([
    ['nothing', () => undefined, []],
    ['a source', () => world.write('notes.txt', 'five'), ['first', 'second']],
    ['a source saved with the same content', () => world.write('notes.txt', 'four'), []],
    ['a file in a source folder', () => world.write('data/b.txt', 'c'), ['listed']],
    ['a new file in a source folder', () => world.write('data/c.txt', 'c'), ['listed']],
    ['a file less in a source folder', () => world.unlink('data/b.txt'), ['listed']],
    ['the executable bit of a source', () => chmodSync(join(world.folder, 'notes.txt'), 0o755), ['first', 'second'], ['first']],
    ['a comment of the pipeline file', () => world.write('pipeline.yaml', SAME), []],
    ['a default of a parameter', () => world.write('pipeline.yaml', PIPELINE.replace('one', 'two')), ['first', 'second']],
    ['a module that a plugin imports', () => world.write('plugins/word.js', "export const word = 'y';\n"), ['own']],
    ['a file that no stage reads', () => world.write('README', 'read me'), []],
    ['a field of package.json that is no code', () => world.write('package.json', '{"name": "p", "type": "module"}'), []],
    [
      'the name of a source with the same content',
      () => {
        renameSync(join(world.folder, 'notes.txt'), join(world.folder, 'other.txt'));
        world.write('pipeline.yaml', PIPELINE.replace('notes: notes.txt', 'notes: other.txt'));
      },
      [],
    ],
    [
      'the name of a stage',
      () => world.write('pipeline.yaml', PIPELINE.replace('  first:', '  start:').replace('first.text', 'start.text')),
      [],
    ],
    [
      'a stage more',
      () =>
        world.write(
          'pipeline.yaml',
          `${PIPELINE}  more:\n    uses: command\n    with: {run: [sh, -c, "echo 1 > out"], outputs: {text: out}}\n`,
        ),
      ['more'],
    ],
  ])('after a change of %s lists what a build runs', (_what, change, expected, ran = expected) => {
    const base = givenCommitted();
    world.run('build');
    change();
    expect(namesSince(base)).toEqual(expected);
    expect(executed()).toEqual(ran);
  });

  it('compares with any commit, and with the working tree alone', () => {
    givenCommitted();
    world.write('notes.txt', 'five');
    git('commit', '-q', '-a', '-m', 'two');
    expect(namesSince('HEAD~1')).toEqual(['first', 'second']);
    expect(namesSince('HEAD')).toEqual([]);
  });

  it('says why, and writes nothing, not even to the repository', () => {
    givenCommitted();
    world.write('notes.txt', 'five');
    world.write('pipeline.yaml', PIPELINE.replace('cat in secret', 'cat secret in'));
    const before = world.listing();
    const { stdout } = world.run('affected', '--base', 'main');
    expect(stdout).toMatch(
      /^2 of 4 stages are affected since main \([0-9a-f]{7}\)\n {2}first {3}source notes.txt changed\n {2}second {2}params.run: /,
    );
    expect(stdout).toContain('; after first\n');
    expect(stdout).toContain('note: Git does not have ignored.txt: taken to be unchanged');
    const document = JSON.parse(world.run('affected', '--base', 'main', '--json', 'second').stdout);
    expect(document).toMatchObject({
      base: { revision: 'main' },
      stages: [{ stage: 'second', kind: 'changed', after: ['first'] }],
      removed: [],
    });
    expect(world.listing()).toEqual(before);
  });

  it('takes a source that is a link for what it leads to', () => {
    givenCommitted();
    world.write('real.txt', 'four');
    world.unlink('notes.txt');
    symlinkSync('real.txt', join(world.folder, 'notes.txt'));
    git('add', '-A');
    git('commit', '-q', '-m', 'link');
    expect(namesSince('HEAD')).toEqual([]);
    world.write('real.txt', 'five');
    expect(namesSince('HEAD')).toEqual(['first', 'second']);
  });

  it('counts every stage where the pipeline of the revision cannot be planned', () => {
    givenCommitted();
    world.write('pipeline.yaml', 'version: 1\nstages: {x: {uses: nothing}}\n');
    git('commit', '-q', '-a', '-m', 'broken');
    world.write('pipeline.yaml', PIPELINE);
    expect(namesSince('HEAD')).toEqual(['first', 'second', 'listed', 'own']);
    expect(world.run('affected', '--base', 'HEAD').stdout).toContain('cannot be planned, so every stage counts: ');
  });

  it('follows the versions in a lock file of npm', () => {
    givenCommitted();
    const lock = (version: string): string =>
      JSON.stringify({ lockfileVersion: 3, packages: { 'node_modules/dep': { version, integrity: `sha512-${version}` } } });
    world.write('plugins/word.js', "import 'dep';\nexport const word = 'x';\n");
    world.write('node_modules/dep/package.json', '{"name": "dep", "version": "1.0.0", "main": "index.js"}');
    world.write('node_modules/dep/index.js', '');
    world.write('.gitignore', `${FILES['.gitignore']}node_modules\n`);
    world.write('package-lock.json', lock('1.0.0'));
    git('add', '-A');
    git('commit', '-q', '-m', 'dep');
    expect(namesSince('HEAD')).toEqual([]);
    world.write('package-lock.json', lock('1.0.1'));
    expect(namesSince('HEAD')).toEqual(['own']);
  });

  it.each([
    ['a revision that does not exist', ['--base', 'nowhere']],
    ['an option in the place of a revision', ['--base', '--output=x']],
  ])('ends with 2 at %s', (_what, args) => {
    givenCommitted();
    expect(world.run('affected', ...args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('error[unknown-revision]') });
  });

  it('ends with 2 outside a repository', () => {
    world = givenProject(FILES);
    expect(world.run('affected', '--base', 'HEAD')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('unknown-revision') });
  });
});
