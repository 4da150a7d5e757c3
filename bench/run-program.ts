/** Runs a program to its end and fails if the program fails. */
import { spawnSync } from 'node:child_process';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** The output of the program, stdout first. @throws Error if it fails. */
export function runProgram({ command, args, cwd, env = process.env }: Program): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0)
    throw new Error(`${command} ${args.slice(0, 4).join(' ')} ended with ${status}: ${error?.message ?? ''}\n${stdout}\n${stderr}`);
  return stdout + stderr;
}

export function isInstalled(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}
