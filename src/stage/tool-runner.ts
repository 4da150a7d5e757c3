/** How does a stage start an external program? Without a shell, with a small fixed environment, in a group that can be killed as one. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { SpawnOptions, SpawnResult } from './context.js';
import { StageError } from './stage-error.js';

/** Variables that programs need to be found and to run, and that say nothing about results. */
const PASSED = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SystemRoot',
  'SYSTEMROOT',
  'COMSPEC',
  'PATHEXT',
  'APPDATA',
  'LOCALAPPDATA',
  'USERPROFILE',
  'LD_LIBRARY_PATH',
];

/** What every program and worker of a stage sees: locale and time zone are fixed, so that they cannot change results. */
export function baseEnvironment(environment: Readonly<Record<string, string | undefined>>, scratch: string): Record<string, string> {
  const passed = PASSED.flatMap(name => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passed), LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', TZ: 'UTC', TMPDIR: scratch, TEMP: scratch, TMP: scratch };
}

export interface ToolSurroundings {
  /** The whole environment but for `options.env`. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** 'own': the program leads a process group of its own, as it is started by a process that must not die with it. */
  readonly group: 'own' | 'shared';
  readonly log: (text: string) => void;
  /** Told of a group that has started; what it returns is called when the group has ended. */
  readonly watch?: (pid: number) => () => void;
}

/** Runs a program to its end. Resolves with its exit code or signal; on abort after everything it started is gone. */
export async function runTool(command: readonly string[], options: SpawnOptions, surroundings: ToolSurroundings): Promise<SpawnResult> {
  const [program, ...args] = command;
  if (program === undefined) throw new StageError('tool-missing', 'the command is empty');
  surroundings.signal.throwIfAborted();
  const detached = surroundings.group === 'own';
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...surroundings.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached,
  });
  const stop = (): void => killGroup(child, detached ? 'group' : 'process');
  const unwatch = child.pid === undefined ? undefined : surroundings.watch?.(child.pid);
  surroundings.signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<SpawnResult>((resolve, reject) => {
      for (const stream of ['stdout', 'stderr'] as const) {
        child[stream].setEncoding('utf8').on('data', (text: string) => {
          surroundings.log(text);
          options.onOutput?.(stream, text);
        });
      }
      child.on('error', error => reject(new StageError('tool-missing', `cannot start "${program}": ${error.message}`, { cause: error })));
      child.on('close', (code, signal) => resolve({ exitCode: code ?? undefined, signal: signal ?? undefined }));
      // A background child of the program may hold its output open: it goes with the program.
      child.on('exit', () => {
        if (detached) sweepGroup(child);
      });
    });
  } finally {
    unwatch?.();
    surroundings.signal.removeEventListener('abort', stop);
  }
}

const TOOL_GRACE_MS = 1_000;

/** Ends a child, with its group where it leads one: asks first, and kills what is left `graceMs` later. */
export function killGroup(child: ChildProcess, reach: 'group' | 'process', graceMs = TOOL_GRACE_MS): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  signalTo(child.pid, reach, 'SIGTERM');
  const timer = setTimeout(() => child.pid !== undefined && signalTo(child.pid, reach, 'SIGKILL'), graceMs);
  child.once('exit', () => clearTimeout(timer));
}

/** Kills what is left of the group of a child that has exited. */
export function sweepGroup(child: ChildProcess): void {
  if (child.pid !== undefined) signalTo(child.pid, 'group', 'SIGKILL');
}

function signalTo(pid: number, reach: 'group' | 'process', signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(reach === 'group' && process.platform !== 'win32' ? -pid : pid, signal);
  } catch {
    // It is gone already.
  }
}
