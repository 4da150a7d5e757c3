/** The launcher without the command line beside it: it answers at once, from the no-op record, or not at all. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CliWorld } from './cli-world.js';
import { DIST } from './world.js';

export interface Launcher {
  /** Its output; undefined if it gives no answer. */
  run(world: CliWorld, args: readonly string[], environment?: NodeJS.ProcessEnv): string | undefined;
  remove(): void;
}

export function makeLauncher(): Launcher {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-launcher-'));
  for (const name of ['tanren.js', 'package.json']) copyFileSync(join(DIST, 'bin', name), join(folder, name));
  return {
    run(world, args, environment = {}) {
      const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...environment };
      const { status, stdout } = spawnSync(process.execPath, [join(folder, 'tanren.js'), ...args], {
        cwd: world.folder,
        env,
        encoding: 'utf8',
      });
      return status === 0 ? stdout : undefined;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
