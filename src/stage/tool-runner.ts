/** How does a stage start an external program? Without a shell, with a small fixed environment, in a group that can be killed as one. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { RunningProgram, SpawnOptions, SpawnResult } from './context.js';
import { hearMasked, type Mask, NO_MASK } from './mask.js';
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

/** Fixed, so that they cannot change results: locale and time zone. And nothing that runs models tells its maker of it. */
const FIXED = { LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', TZ: 'UTC', ORT_DISABLE_TELEMETRY: '1' };

/** What every program and worker of a stage sees. */
export function baseEnvironment(environment: Readonly<Record<string, string | undefined>>, scratch: string): Record<string, string> {
  const passed = PASSED.flatMap(name => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(passed), ...FIXED, TMPDIR: scratch, TEMP: scratch, TMP: scratch };
}

export interface ToolSurroundings {
  /** The whole environment but for `options.env`. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** 'own': the program leads a process group of its own, as it is started by a process that must not die with it. */
  readonly group: 'own' | 'shared';
  readonly log: (text: string) => void;
  /** Takes the stage's secrets out of what programs write. */
  readonly mask?: Mask;
  /** The command line that starts a program where it can do no more than its stage declares; where absent, the program is started as it is. */
  readonly wrap?: (command: readonly string[], cwd: string) => readonly string[];
  /** Told of a group that has started; what it returns is called when the group has ended. */
  readonly watch?: (pid: number) => () => void;
}

/** Runs a program to its end. Resolves with its exit code or signal; on abort after everything it started is gone. */
export async function runTool(command: readonly string[], options: SpawnOptions, surroundings: ToolSurroundings): Promise<SpawnResult> {
  const child = spawnTool(command, options, surroundings, 'ignore');
  const ended = follow(child, command, surroundings);
  hear(child.stdout, 'stdout', options, surroundings);
  hear(child.stderr, 'stderr', options, surroundings);
  return ended;
}

/** Starts a program that is talked to over its standard input and output. */
export function startTool(command: readonly string[], options: SpawnOptions, surroundings: ToolSurroundings): RunningProgram {
  const child = spawnTool(command, options, surroundings, 'pipe');
  const ended = follow(child, command, surroundings);
  // Whoever waits for it hears of a failure; nobody has to wait.
  ended.catch(() => undefined);
  hear(child.stderr, 'stderr', options, surroundings);
  if (!child.stdin || !child.stdout) throw systemLimit(command, undefined);
  // Writing to a program that has ended fails: how it ended says more.
  child.stdin.on('error', () => undefined);
  return { stdin: child.stdin, stdout: child.stdout, ended, stop: () => killGroup(child, reachOf(surroundings)) };
}

function spawnTool(command: readonly string[], options: SpawnOptions, surroundings: ToolSurroundings, stdin: 'ignore'): Heard;
function spawnTool(
  command: readonly string[],
  options: SpawnOptions,
  surroundings: ToolSurroundings,
  stdin: 'pipe',
): Heard & { stdin: Writable | null };
function spawnTool(command: readonly string[], options: SpawnOptions, surroundings: ToolSurroundings, stdin: 'ignore' | 'pipe'): Heard {
  if (command.length === 0) throw new StageError('tool-missing', 'the command is empty');
  const [program = '', ...args] = surroundings.wrap?.(command, options.cwd) ?? command;
  surroundings.signal.throwIfAborted();
  return withPlainUmask(() =>
    spawn(program, args, {
      cwd: options.cwd,
      env: { ...surroundings.env, ...options.env },
      stdio: [stdin, 'pipe', 'pipe'],
      detached: surroundings.group === 'own',
    }),
  );
}

/** A program inherits the umask of the moment when it is started, and may write it into what it makes: the user's own is in no key. */
function withPlainUmask<T>(start: () => T): T {
  const before = process.umask(0o022);
  try {
    return start();
  } finally {
    process.umask(before);
  }
}

/** Without streams, null or undefined, where the system had no handle left for them: then its 'error' follows. */
type Heard = ChildProcess & { readonly stdout: Readable | null | undefined; readonly stderr: Readable | null | undefined };

function hear(from: Readable | null | undefined, stream: 'stdout' | 'stderr', options: SpawnOptions, surroundings: ToolSurroundings): void {
  if (from === null || from === undefined) return;
  hearMasked(from, surroundings.mask ?? NO_MASK, text => {
    surroundings.log(text);
    options.onOutput?.(stream, text);
  });
}

/** Watches a child to its end; on abort it is killed. */
async function follow(child: ChildProcess, command: readonly string[], surroundings: ToolSurroundings): Promise<SpawnResult> {
  const stop = (): void => killGroup(child, reachOf(surroundings));
  const unwatch = child.pid === undefined ? undefined : surroundings.watch?.(child.pid);
  surroundings.signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<SpawnResult>((resolve, reject) => {
      child.on('error', error => reject(cannotStart(command, error)));
      child.on('close', (code, signal) => resolve({ exitCode: code ?? undefined, signal: signal ?? undefined }));
      // A background child of the program may hold its output open: it goes with the program.
      child.on('exit', () => {
        if (surroundings.group === 'own') sweepGroup(child);
      });
    });
  } finally {
    unwatch?.();
    surroundings.signal.removeEventListener('abort', stop);
  }
}

/** What the system may run out of. */
const LIMITS = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'];

function cannotStart(command: readonly string[], error: Error): StageError {
  if ('code' in error && LIMITS.includes(String(error.code))) return systemLimit(command, error);
  return new StageError('tool-missing', `cannot start "${command[0]}": ${error.message}`, { cause: error });
}

function systemLimit([program]: readonly string[], cause: Error | undefined): StageError {
  return new StageError('system-limit', `cannot start "${program}": ${cause?.message ?? 'no file handle is left'}`, {
    ...(cause === undefined ? {} : { cause }),
    help: 'lower --jobs, free memory, or raise the limits of this shell (ulimit -n, ulimit -u)',
  });
}

function reachOf({ group }: ToolSurroundings): 'group' | 'process' {
  return group === 'own' ? 'group' : 'process';
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
