/** The built `tanren` in a folder: started and followed, or run to its end. */
import { spawn, spawnSync } from 'node:child_process';
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

export function runTanren(folder: string, ...args: readonly string[]): { readonly exitCode: number | null; readonly stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [join(DIST, 'bin/tanren.js'), ...args], { cwd: folder, encoding: 'utf8' });
  return { exitCode: status, stderr };
}
