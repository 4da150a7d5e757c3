/** Starts external programs of stages: without a shell, with a small fixed environment, in a process group that can be killed as a whole. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { delimiter, isAbsolute } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { hasCode, OPEN_FILES_LIMIT } from '../base/system-error.js';
import type { RunningProgram, SpawnOptions, SpawnResult } from './context.js';
import { type Mask, maskChunks, NO_MASK, readMasked } from './mask.js';
import { killGroup, sweepGroup } from './process-group.js';
import { StageError } from './stage-error.js';

/** Variables that programs need to be found and to run, and that do not affect results. */
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

/** Fixed values, so that locale and time zone cannot change results. ONNX Runtime sends no telemetry. */
const FIXED = { LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', TZ: 'UTC', ORT_DISABLE_TELEMETRY: '1' };

/** The environment of every program and worker of a stage. */
export function baseEnvironment(environment: Readonly<Record<string, string | undefined>>, scratch: string): Record<string, string> {
  const passed = PASSED.flatMap(name => {
    const value = environment[name];
    return value === undefined ? [] : [[name, name === 'PATH' ? absoluteFolders(value) : value] as const];
  });
  return { ...Object.fromEntries(passed), ...FIXED, TMPDIR: scratch, TEMP: scratch, TMP: scratch };
}

/** Removes relative and empty folders: they would find other programs than those in the key. */
function absoluteFolders(path: string): string {
  return path.split(delimiter).filter(isAbsolute).join(delimiter);
}

export interface ToolSurroundings {
  /** The whole environment except `options.env`. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** 'own': the program leads its own process group, because the process that starts it must survive it. */
  readonly group: 'own' | 'shared';
  readonly log: (text: string) => void;
  /** Masks the stage's secrets in the output of programs. */
  readonly mask?: Mask;
  /** Returns the command line that restricts a program to what its stage declares; if absent, the program is started directly. */
  readonly wrap?: (command: readonly string[], cwd: string) => readonly string[];
  /** Called when a group has started; the returned function is called when the group has ended. */
  readonly watch?: (pid: number) => () => void;
  /** Files of the declared programs by name: the files in the key. Other programs are found by the system. */
  readonly tools?: Readonly<Record<string, string>>;
  /** Starts programs from another process; undefined if none is ready, and then this process starts it. */
  readonly start?: (program: Program, forwardOutput: (stream: OutputStream, text: string) => void) => StartedProgram | undefined;
}

/** A program as the system starts it. */
export interface Program {
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** A program started by another process, in its own group. Its output arrives before `ended` resolves. */
export interface StartedProgram {
  /** @throws the system's error if it cannot be started; StageError `starter-died`. */
  readonly ended: Promise<SpawnResult>;
  /** Asks its group to exit, and kills it after a grace period. */
  stop(): void;
}

export type OutputStream = 'stdout' | 'stderr';

/** Runs a program to its end. Resolves with its exit code or signal; on abort, after all its processes are gone. */
export async function runTool(command: readonly string[], options: SpawnOptions, given: ToolSurroundings): Promise<SpawnResult> {
  const surroundings = options.signal === undefined ? given : { ...given, signal: AbortSignal.any([given.signal, options.signal]) };
  const elsewhere = startElsewhere(command, options, surroundings);
  if (elsewhere !== undefined) return elsewhere;
  const child = spawnTool(command, options, surroundings, 'ignore');
  const ended = follow(child, command, surroundings);
  forwardOutput(child.stdout, 'stdout', options, surroundings);
  forwardOutput(child.stderr, 'stderr', options, surroundings);
  return ended;
}

/** Runs the program from another process; undefined if none is ready. */
function startElsewhere(
  command: readonly string[],
  options: SpawnOptions,
  surroundings: ToolSurroundings,
): Promise<SpawnResult> | undefined {
  if (surroundings.start === undefined) return undefined;
  const program = programOf(command, options, surroundings);
  const say = outputTo(options, surroundings);
  const masked = {
    stdout: maskChunks(surroundings.mask ?? NO_MASK, say('stdout')),
    stderr: maskChunks(surroundings.mask ?? NO_MASK, say('stderr')),
  };
  const started = surroundings.start(program, (stream, text) => masked[stream].write(text));
  return started === undefined
    ? undefined
    : followStarted(started, command, surroundings, () => [masked.stdout, masked.stderr].map(piece => piece.end()));
}

async function followStarted(
  { ended, stop }: StartedProgram,
  command: readonly string[],
  { signal }: ToolSurroundings,
  onEnd: () => void,
): Promise<SpawnResult> {
  signal.addEventListener('abort', stop, { once: true });
  try {
    const result = await ended;
    onEnd();
    return result;
  } catch (error) {
    throw error instanceof StageError || !(error instanceof Error) ? error : cannotStart(command, error);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Starts an interactive program on its standard input and output. */
export function startTool(command: readonly string[], options: SpawnOptions, surroundings: ToolSurroundings): RunningProgram {
  const child = spawnTool(command, options, surroundings, 'pipe');
  const ended = follow(child, command, surroundings);
  // Callers that wait for `ended` get the failure; waiting is optional.
  ended.catch(() => undefined);
  forwardOutput(child.stderr, 'stderr', options, surroundings);
  if (!child.stdin || !child.stdout) throw systemLimit(command, undefined);
  // Writing to a program that has ended fails; `ended` tells more than this error.
  child.stdin.on('error', () => undefined);
  return { stdin: child.stdin, stdout: child.stdout, ended, stop: () => killGroup(child, reachOf(surroundings)) };
}

function spawnTool(command: readonly string[], options: SpawnOptions, surroundings: ToolSurroundings, stdin: 'ignore'): ReadableChild;
function spawnTool(
  command: readonly string[],
  options: SpawnOptions,
  surroundings: ToolSurroundings,
  stdin: 'pipe',
): ReadableChild & { stdin: Writable | null };
function spawnTool(
  command: readonly string[],
  options: SpawnOptions,
  surroundings: ToolSurroundings,
  stdin: 'ignore' | 'pipe',
): ReadableChild {
  const {
    command: [program = '', ...args],
    cwd,
    env,
  } = programOf(command, options, surroundings);
  try {
    return withPlainUmask(() => spawn(program, args, { cwd, env, stdio: [stdin, 'pipe', 'pipe'], detached: surroundings.group === 'own' }));
  } catch (error) {
    throw error instanceof Error ? cannotStart(command, error) : error;
  }
}

/** @throws StageError `tool-missing`; the reason of an aborted signal. */
function programOf(command: readonly string[], { cwd, env }: SpawnOptions, surroundings: ToolSurroundings): Program {
  if (command.length === 0) throw new StageError('tool-missing', 'the command is empty');
  const found = findProgram(command, surroundings);
  const wrapped = surroundings.wrap?.(found, cwd) ?? found;
  surroundings.signal.throwIfAborted();
  return { command: wrapped, cwd, env: { ...surroundings.env, ...env } };
}

function findProgram([program = '', ...args]: readonly string[], { tools = {} }: ToolSurroundings): readonly string[] {
  return [(Object.hasOwn(tools, program) ? tools[program] : undefined) ?? program, ...args];
}

/** Starts with a fixed umask: a program inherits the umask and may write it into its results, and the user's umask is in no key. */
function withPlainUmask<T>(start: () => T): T {
  const before = process.umask(0o022);
  try {
    return start();
  } finally {
    process.umask(before);
  }
}

/** The streams are null or undefined if the system had no handle left; then 'error' follows. */
type ReadableChild = ChildProcess & { readonly stdout: Readable | null | undefined; readonly stderr: Readable | null | undefined };

function forwardOutput(
  from: Readable | null | undefined,
  stream: OutputStream,
  options: SpawnOptions,
  surroundings: ToolSurroundings,
): void {
  if (from !== null && from !== undefined) readMasked(from, surroundings.mask ?? NO_MASK, outputTo(options, surroundings)(stream));
}

function outputTo(options: SpawnOptions, { log }: ToolSurroundings): (stream: OutputStream) => (text: string) => void {
  return stream => text => {
    log(text);
    options.onOutput?.(stream, text);
  };
}

/** Follows a child to its end; kills it on abort. */
async function follow(child: ChildProcess, command: readonly string[], surroundings: ToolSurroundings): Promise<SpawnResult> {
  const stop = (): void => killGroup(child, reachOf(surroundings));
  const unwatch = child.pid === undefined ? undefined : surroundings.watch?.(child.pid);
  surroundings.signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<SpawnResult>((resolve, reject) => {
      child.on('error', error => reject(cannotStart(command, error)));
      child.on('close', (code, signal) => resolve({ exitCode: code ?? undefined, signal: signal ?? undefined }));
      // A background child may keep the output open: it is killed with the program.
      child.on('exit', () => {
        if (surroundings.group === 'own') sweepGroup(child);
      });
    });
  } finally {
    unwatch?.();
    surroundings.signal.removeEventListener('abort', stop);
  }
}

/** Errors of exhausted system resources. */
const LIMITS = [...OPEN_FILES_LIMIT, 'EAGAIN', 'ENOMEM'];

function cannotStart(command: readonly string[], error: Error): StageError {
  if (hasCode(error, ...LIMITS)) return systemLimit(command, error);
  if (hasCode(error, 'E2BIG')) return tooLong(command, error);
  return new StageError('tool-missing', `cannot start "${command[0]}": ${error.message}`, { cause: error });
}

function tooLong([program, ...args]: readonly string[], cause: Error): StageError {
  const longest = args.reduce((most, argument) => Math.max(most, argument.length), 0);
  return new StageError(
    'arguments-too-long',
    `cannot start "${program}": its arguments and environment are longer than the system allows`,
    {
      cause,
      details: { arguments: args.length, longest },
      help: 'on Linux one argument or variable has at most 128 kB, and all of them 2 MB: put long ones into a file that the stage declares as an input',
    },
  );
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
