/** `pipeline.lock` between two clones, through the command line. */
import { join } from 'node:path';
import { type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';

const worlds: CliWorld[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

function given(files: Readonly<Record<string, string>> = TEXT_PROJECT): CliWorld {
  const world = givenProject(files);
  worlds.push(world);
  return world;
}

/** What git would have of it: the lock, and nothing of artifacts/ and cache/. */
function clone(world: CliWorld, change: Readonly<Record<string, string>> = {}): CliWorld {
  return given({ ...TEXT_PROJECT, 'pipeline.lock': world.read('pipeline.lock'), ...change });
}

describe('two clones', () => {
  it('a frozen build of the second clone runs everything, gives the same bytes and does not write the lock; then nothing is left to do', () => {
    const first = given();
    expect(first.run('build').exitCode).toBe(0);
    const second = clone(first);
    const before = second.listing().filter(line => line.startsWith('pipeline.lock'));
    const built = second.run('build', '--frozen');

    expect(built).toMatchObject({ exitCode: 0, stderr: '' });
    expect(built.stdout).toContain('✓ as locked: 4 stages\n');
    expect(built.stdout).toContain('built: 4 executed');
    expect(second.read('artifacts/shout/text')).toBe(first.read('artifacts/shout/text'));
    expect(second.listing().filter(line => line.startsWith('pipeline.lock'))).toEqual(before);
    expect(second.run('build', '--frozen').stdout).toContain('nothing to do');

    // The second writes the same lock, to the byte.
    second.unlink('pipeline.lock');
    expect(second.run('build').exitCode).toBe(0);
    expect(second.read('pipeline.lock')).toBe(first.read('pipeline.lock'));
  });

  it('differences are refused with line and help, as text and JSON, also in a dry run; nothing is written', () => {
    const first = given();
    first.run('build');
    const second = clone(first, { 'notes.txt': 'edited\n' });
    const before = second.listing();
    const refused = second.run('build', '--frozen', '-p', 'mode=lower');

    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toMatch(
      /^pipeline\.lock:\d+:7: error\[lock-differs\]: stage "shout": source notes\.txt \(input "text"\) differs from the locked content$/m,
    );
    expect(refused.stderr).toMatch(/error\[lock-differs\]: stage "shout": params\.run: .*upper.* → .*lower/);
    expect(refused.stderr).toContain('help: revert the differences, or run "tanren build" without --frozen and commit the lock');
    expect(refused.stderr).toContain('2 errors: nothing was built');
    expect(second.exists('artifacts/shout')).toBe(false);

    const dry = clone(first, { 'notes.txt': 'edited\n' });
    const untouched = dry.listing();
    const { exitCode, stdout } = dry.run('build', '--frozen', '--dry-run', '--json');
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ diagnostics: [{ code: 'lock-differs', file: 'pipeline.lock' }] });
    expect(dry.listing()).toEqual(untouched);
    expect(before.length).toBeGreaterThan(0);
  });

  it('a tampered digest fails the stage, with exit code 1', () => {
    const first = given();
    first.run('build');
    const lock = first.read('pipeline.lock');
    const digest = /judge:[\s\S]*?outputs:\n +metrics: file ([0-9a-f]{64})/.exec(lock)?.[1] ?? '';
    const second = clone(first, {
      'pipeline.lock': lock.replace(`outputs:\n      metrics: file ${digest}`, `outputs:\n      metrics: file ${'0'.repeat(64)}`),
    });
    const built = second.run('build', '--frozen', '--json', '--keep-going');

    expect(built.exitCode).toBe(1);
    expect(JSON.parse(built.stdout)).toMatchObject({
      conclusion: 'failed',
      stages: expect.arrayContaining([
        expect.objectContaining({
          stage: 'judge',
          outcome: expect.objectContaining({ failure: expect.objectContaining({ code: 'locked-output-differs' }) }),
        }),
        expect.objectContaining({ stage: 'shout', locked: 'as-locked' }),
      ]),
    });
  });

  it('results come from an imported archive', () => {
    const first = given();
    first.run('build');
    expect(first.run('cache', 'export', join(first.folder, 'warm.tanren')).exitCode).toBe(0);
    const second = clone(first);
    expect(second.run('cache', 'import', join(first.folder, 'warm.tanren')).exitCode).toBe(0);

    expect(second.run('build', '--frozen').stdout).toContain('built: 4 restored');
  });
});

describe('the lock', () => {
  it('is next to each pipeline file, and contains only that pipeline', () => {
    const world = given({ ...TEXT_PROJECT, 'pipelines/other.yaml': TEXT_PROJECT['pipeline.yaml'].replace('mode: upper', 'mode: other') });
    expect(world.run('build', '-f', 'pipelines/other.yaml').exitCode).toBe(0);

    expect(world.exists('pipelines/other.lock')).toBe(true);
    expect(world.exists('pipeline.lock')).toBe(false);
    expect(world.run('build', '--frozen').stderr).toContain('error[lock-missing]: pipeline.lock: file not found');
    expect(world.run('build', '--frozen', '-f', 'pipelines/other.yaml').exitCode).toBe(0);
  });

  it('is never written by watch, status, a dry run, a failed build or one with a missed gate', async () => {
    const world = given();
    const watch = world.start('watch');
    await watch.waitFor('watching; Ctrl-C ends');
    watch.signal('SIGINT');
    await watch.ended;
    world.run('status');
    world.run('build', '--dry-run');
    expect(world.run('build', '-p', 'least=9').exitCode).toBe(1);
    world.write('pipeline.yaml', TEXT_PROJECT['pipeline.yaml'].replace('wc --', 'no-such-program --'));
    expect(world.run('build', '--keep-going').exitCode).toBe(1);
    expect(world.exists('pipeline.lock')).toBe(false);

    world.write('pipeline.yaml', TEXT_PROJECT['pipeline.yaml']);
    expect(world.run('build').exitCode).toBe(0);
    expect(world.exists('pipeline.lock')).toBe(true);
  });

  it('is written again after it was deleted or edited, even if a no-op record claims that every stage is up to date', () => {
    const world = given();
    world.run('build');
    const lock = world.read('pipeline.lock');
    for (const spoil of [
      () => world.unlink('pipeline.lock'),
      () => world.write('pipeline.lock', lock.replace(/shell: sh/, 'shell: bash')),
    ]) {
      expect(world.run('build').stdout).toContain('nothing to do');
      spoil();
      expect(world.run('build').stdout).toContain('nothing to do');
      expect(world.read('pipeline.lock')).toBe(lock);
    }
  });

  it('with a merge conflict stops a build before it starts, with line and help', () => {
    const world = given();
    world.run('build');
    const lock = world.read('pipeline.lock');
    world.write('pipeline.lock', lock.replace('  judge:\n', '<<<<<<< HEAD\n  judge:\n=======\n>>>>>>> theirs\n'));
    for (const args of [['build'], ['build', '--frozen']]) {
      const { exitCode, stderr } = world.run(...args);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^pipeline\.lock:\d+:1: error\[lock-conflict\]: an unresolved merge conflict\n[\s\S]*help: take either side/);
    }
    world.write('pipeline.lock', lock);
    expect(world.run('build').exitCode).toBe(0);
  });
});
