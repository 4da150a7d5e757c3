/** After a build is killed at any point of writing the lock, the lock is whole and the next build writes it. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';
import { DIST } from '../../support/world.js';

let world: CliWorld;
afterEach(() => world.remove());

describe('the lock', () => {
  it.each([
    'before',
    'torn',
  ])('is complete or unchanged if the build is killed at any step of writing it (%s), and the next build writes it', how => {
    world = givenProject(TEXT_PROJECT);
    const kill = (call: string): NodeJS.Signals | null =>
      spawnSync(
        process.execPath,
        [`--import=${pathToFileURL(join(DIST, 'test/support/die-at-write.js')).href}`, join(DIST, 'bin/tanren.js'), 'build'],
        {
          cwd: world.folder,
          env: { ...process.env, DIE_AT_CALL: call, ...(how === 'torn' ? { DIE_HOW: 'torn' } : {}) },
        },
      ).signal;
    for (const [word, call] of [
      ['anvil', 'writeFileSync cache/tmp/lock-'],
      ['hammer', 'utimesSync cache/tmp/lock-'],
      ['tongs', 'renameSync cache/tmp/lock-.* pipeline.lock'],
    ] as const) {
      const before = world.exists('pipeline.lock') ? world.read('pipeline.lock') : undefined;
      world.write('notes.txt', `${word}\n`);
      expect(kill(call)).toBe('SIGKILL');
      expect(world.exists('pipeline.lock') ? world.read('pipeline.lock') : undefined).toBe(before);

      expect(world.run('build').stdout).toContain('nothing to do');
      expect(world.read('pipeline.lock')).not.toBe(before);
      expect(world.run('build', '--frozen').exitCode).toBe(0);
      expect(existsSync(join(world.folder, '.pipeline.lock.tmp'))).toBe(false);
    }
  });
});
