/** Commands beside files that are not Tanren's, and as another user than the one who built. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, lchownSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CliResult, type CliWorld, givenProject } from '../../support/cli-world.js';
import { describeWith } from '../../support/guards.js';
import { UPPER_LINES } from '../../support/upper-lines.js';
import { DIST } from '../../support/world.js';

const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;

let world: CliWorld;
beforeEach(() => {
  world = givenProject({ 'pipeline.yaml': UPPER_LINES, 'left.txt': 'a\nb\n' });
});
afterEach(() => world.remove());

function outputOf({ stdout, stderr }: CliResult): string {
  return stdout + stderr;
}

describe('files that no build wrote', () => {
  beforeEach(() => {
    world.run('build');
    world.write('artifacts/upper/notes.txt', 'mine');
    world.write('cache/results.sqlite', 'mine');
    world.write('cache/cas/notes.txt', 'mine');
    world.write('cache/logs/pipeline/plot.png', 'mine');
  });

  it.each([
    ['gc', ['cache', 'gc']],
    ['verify', ['cache', 'verify']],
  ])('are left alone and listed by cache %s', (_name, args) => {
    const ended = world.run(...args);

    expect(outputOf(ended)).toContain('because no build wrote it: cas/notes.txt, logs/pipeline/plot.png, results.sqlite');
    expect([ended.exitCode, world.read('cache/cas/notes.txt'), world.read('cache/results.sqlite')]).toEqual([0, 'mine', 'mine']);
  });

  it('are left alone and listed by clean', () => {
    const cleaned = outputOf(world.run('clean'));

    expect(cleaned).toContain('kept artifacts/upper/notes.txt: no build wrote it');
    expect(readdirSync(join(world.folder, 'artifacts/upper'))).toEqual(['notes.txt']);
    expect(world.exists('artifacts/lines')).toBe(false);
    expect(world.run('build').exitCode).toBe(0);
    expect(world.read('artifacts/upper/text')).toBe('A\nB\n');
  });

  it('are left alone and listed by clean --all', () => {
    const cleaned = outputOf(world.run('clean', '--all'));

    for (const path of ['artifacts/upper/notes.txt', 'cache/cas/notes.txt', 'cache/logs/pipeline/plot.png', 'cache/results.sqlite'])
      expect([cleaned.includes(`kept ${path}: no build wrote it`), world.read(path)]).toEqual([true, 'mine']);
    expect(readdirSync(join(world.folder, 'cache')).sort()).toEqual(['.gitignore', '.tanren', 'cas', 'lock', 'logs', 'results.sqlite']);
    expect(world.run('build').exitCode).toBe(0);
  });
});

describe('a shared cache', () => {
  it.each([
    ['build'],
    ['status'],
    ['explain', 'upper'],
    ['cache', 'stats'],
    ['cache', 'gc'],
    ['cache', 'verify'],
  ])('is refused by %s %s where the folder holds something else, and nothing is written there', (...args) => {
    world.write('home/letter.txt', 'mine');
    mkdirSync(join(world.folder, 'home/tmp'));
    const ended = world.run(...args.filter(arg => arg !== undefined), '--cache', 'home');

    expect([ended.exitCode, outputOf(ended)]).toEqual([2, expect.stringContaining('error[not-a-cache]')]);
    expect(readdirSync(join(world.folder, 'home')).sort()).toEqual(['letter.txt', 'tmp']);
  });

  it('is also refused if its environment variable names a foreign folder or a file', () => {
    const ended = world.with({ environment: { TANREN_CACHE: 'left.txt' } }).run('build');

    expect([ended.exitCode, outputOf(ended)]).toEqual([2, expect.stringContaining('error[not-a-cache]')]);
  });

  it('can be any empty or new folder, which gets a marker', () => {
    mkdirSync(join(world.folder, 'empty'));
    for (const folder of ['empty', 'new/deep']) {
      expect(world.run('build', '--force', '--cache', folder).exitCode).toBe(0);
      expect(world.read(`${folder}/.tanren`)).toMatch(/^tanren-cache 1\n/);
      world.write(`${folder}/beside.txt`, 'mine');
      expect(world.run('cache', 'stats', '--cache', folder).exitCode).toBe(0);
    }
  });

  it('of version 0.1, without a marker, is accepted with other files next to it', () => {
    world.run('build', '--cache', 'old');
    world.unlink('old/.tanren');
    world.write('old/beside.txt', 'mine');
    world.write('left.txt', 'c\n');

    expect(world.run('build', '--cache', 'old').exitCode).toBe(0);
    expect(world.read('old/.tanren')).toMatch(/^tanren-cache 1\n/);
  });
});

describeWith(isRoot ? undefined : 'tests of another user change the user, and need root')('another user', () => {
  /** Runs the command line as nobody. */
  const asNobody = (...args: readonly string[]): CliResult => {
    const command = [
      '--reuid',
      `${NOBODY}`,
      '--regid',
      `${NOBODY}`,
      '--clear-groups',
      process.execPath,
      join(DIST, 'bin/tanren.js'),
      ...args,
    ];
    const { status, stdout, stderr } = spawnSync('setpriv', command, { cwd: world.folder, encoding: 'utf8' });
    return { exitCode: status, stdout, stderr };
  };

  beforeEach(() => chmodSync(world.folder, 0o755));

  const chownAll = (folder: string): void => {
    chownSync(folder, NOBODY, NOBODY);
    for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) lchownSync(join(folder, entry), NOBODY, NOBODY);
  };

  it('gets an error that names the owner of the files', () => {
    world.run('build');
    world.write('left.txt', 'c\n');
    const built = asNobody('build');

    expect(built.exitCode).toBe(1);
    const owner = new RegExp(`${world.folder}/artifacts belongs to root \\(uid 0\\), and this runs as nobody \\(uid ${NOBODY}\\)`);
    expect(outputOf(built)).toMatch(owner);
    expect(outputOf(built)).toContain(`chown -R ${NOBODY} ${world.folder}/cache`);
  });

  it('can build after a killed build of root left its lock', () => {
    world.run('build');
    chownAll(world.folder);
    // As the lock of the killed build stands there.
    chownSync(join(world.folder, 'cache/lock/held.1'), 0, 0);
    world.write('left.txt', 'c\n');
    const built = asNobody('build');

    expect([built.exitCode, outputOf(built)]).toEqual([0, expect.not.stringContaining('lock-unavailable')]);
  });

  it('gets an error that names the owner of an unreadable lock', () => {
    world.run('build');
    chownAll(world.folder);
    const lock = join(world.folder, 'cache/lock/held.1');
    chownSync(lock, 0, 0);
    chmodSync(lock, 0o600);
    world.write('left.txt', 'c\n');
    const built = asNobody('build');

    expect(outputOf(built)).toMatch(
      new RegExp(`warning\\[lock-unavailable\\].*${lock} belongs to root \\(uid 0\\).* "chown -R ${NOBODY} ${lock}"`),
    );
    expect(built.exitCode).toBe(0);
  });

  it('gets a warning when root builds in its folder', () => {
    chownSync(world.folder, NOBODY, NOBODY);

    expect(outputOf(world.run('build'))).toMatch(/warning\[root-build\].* nobody \(uid 65534\)/);
  });

  it.each([
    ['status', ['status'], 0],
    ['status --why', ['status', '--why'], 0],
    ['explain', ['explain', 'upper'], 0],
    ['build --dry-run', ['build', '--dry-run'], 0],
    ['graph', ['graph'], 0],
    ['history', ['history'], 1],
    ['log', ['log', 'upper'], 1],
    ['cache stats', ['cache', 'stats'], 1],
    ['cache gc', ['cache', 'gc'], 1],
    ['cache verify', ['cache', 'verify'], 1],
    ['clean', ['clean'], 1],
  ])('gets an answer or a code from %s, where the cache may not be read', (name, args, exitCode) => {
    world.run('build');
    const ended = asNobody(...args);

    expect([ended.exitCode, outputOf(ended)]).toEqual([exitCode, expect.not.stringContaining('internal error')]);
    if (name !== 'graph') expect(outputOf(ended)).toMatch(/\[(cache-unreadable|not-permitted)\]/);
    expect(existsSync(join(world.folder, 'artifacts/upper/text'))).toBe(true);
  });

  it.each([['status'], ['build', '--dry-run'], ['history']])('gets an answer or a code from %s %s in a closed folder', (...args) => {
    world.run('build');
    chmodSync(join(world.folder, 'artifacts'), 0o700);
    const ended = asNobody(...args.filter(arg => arg !== undefined));

    expect([ended.exitCode === 70, outputOf(ended)]).toEqual([false, expect.not.stringContaining('internal error')]);
  });
});
