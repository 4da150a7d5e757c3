/** Starts the built `tanren` in a folder, and follows its output. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type CliProcess, followProcess } from './cli-world.js';
import { DIST } from './world.js';

export interface StartedTanren extends CliProcess {
  kill(): void;
}

export function startTanren(folder: string, ...args: readonly string[]): StartedTanren {
  const child = spawn(process.execPath, [join(DIST, 'bin/tanren.js'), ...args], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { ...followProcess(child), kill: () => void child.kill('SIGKILL') };
}
