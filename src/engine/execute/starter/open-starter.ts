/** One starter process and the programs and folders that it works on. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { assertNever } from '../../../base/assert-never.js';
import type { SpawnResult } from '../../../stage/context.js';
import { signalTo } from '../../../stage/process-group.js';
import { StageError } from '../../../stage/stage-error.js';
import type { OutputStream, Program, StartedProgram } from '../../../stage/tool-runner.js';
import type { FromStarter, ToStarter } from './messages.js';

/** A program that was handed to the starter and has not ended. */
interface Entry {
  readonly onOutput: (stream: OutputStream, text: string) => void;
  readonly resolve: (result: SpawnResult) => void;
  readonly reject: (error: Error) => void;
  pid: number | undefined;
}

export interface Starter {
  readonly child: ChildProcess;
  readonly entries: Map<number, Entry>;
  /** By id of the request: reports that its folders are removed. */
  readonly removals: Map<number, () => void>;
  state: 'starting' | 'ready' | 'ended';
}

/** More than the time a starter needs to end a program that does not stop by itself. */
const ANSWER_MS = 5_000;

/** A small heap, because the cost of starting a process grows with the memory that the parent has mapped. */
const HEAP = ['--max-semi-space-size=1'];

/** @param reports receives each process group that starts or ends. */
export function openStarter(installRoot: string, reports: Writable | undefined): Starter {
  // The starter has its own session: neither Ctrl-C nor the end of the terminal reaches it before the build has ended its programs.
  const child = fork(join(installRoot, 'src/engine/execute/starter/main.js'), [], {
    cwd: '/',
    env: {},
    execArgv: HEAP,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', reports ?? 'ignore'],
    detached: true,
  });
  const starter: Starter = { child, entries: new Map(), removals: new Map(), state: 'starting' };
  child.on('error', () => endAll(starter));
  child.on('disconnect', () => endAll(starter));
  child.on('message', (message: FromStarter) => receive(starter, message));
  allowExit(child);
  return starter;
}

export function isReady({ state }: Starter): boolean {
  return state === 'ready';
}

export function startProgram(starter: Starter, id: number, program: Program, onOutput: Entry['onOutput']): StartedProgram {
  const { child, entries } = starter;
  const ended = new Promise<SpawnResult>((resolve, reject) => {
    entries.set(id, { onOutput, resolve, reject, pid: undefined });
  });
  child.channel?.ref();
  send(child, { kind: 'start', id, program });
  const stop = (): void => {
    send(child, { kind: 'stop', id });
    // A starter that does not answer, because it was stopped or hangs, must not block the build forever.
    const timer = setTimeout(() => entries.has(id) && child.kill('SIGKILL'), ANSWER_MS);
    ended.catch(() => undefined).finally(() => clearTimeout(timer));
  };
  return { ended, stop };
}

export function removeFolders(
  { child, removals }: Starter,
  { id, folders, small }: { readonly id: number; readonly folders: readonly string[]; readonly small: 'later' | 'now' },
): Promise<void> {
  const removed = new Promise<void>(resolve => removals.set(id, resolve));
  child.channel?.ref();
  send(child, { kind: 'remove', id, folders, small });
  return removed;
}

export function closeStarter({ child }: Starter): void {
  if (child.connected) child.disconnect();
}

function receive(starter: Starter, message: FromStarter): void {
  if (message.kind === 'ready') {
    if (starter.state === 'starting') starter.state = 'ready';
    return;
  }
  if (message.kind === 'removed') {
    starter.removals.get(message.id)?.();
    forget(starter, message.id);
    return;
  }
  const entry = starter.entries.get(message.id);
  if (entry === undefined) return;
  switch (message.kind) {
    case 'started':
      entry.pid = message.pid;
      return;
    case 'output':
      entry.onOutput(message.stream, message.text);
      return;
    case 'ended':
      forget(starter, message.id);
      entry.resolve({ exitCode: message.exitCode, signal: message.signal });
      return;
    case 'failed':
      forget(starter, message.id);
      entry.reject(Object.assign(new Error(message.message), { code: message.code }));
      return;
    default:
      assertNever(message);
  }
}

/** Ends what the starter worked on, because its process has ended. */
function endAll(starter: Starter): void {
  const { entries, removals } = starter;
  starter.state = 'ended';
  for (const { pid, reject } of entries.values()) {
    if (pid !== undefined) signalTo(pid, 'group', 'SIGKILL');
    reject(starterDied());
  }
  entries.clear();
  // The remaining folders are removed when the build ends.
  for (const resolve of removals.values()) resolve();
  removals.clear();
}

function send(child: ChildProcess, message: ToStarter): void {
  if (child.connected) child.send(message, () => undefined);
}

function forget({ child, entries, removals }: Starter, id: number): void {
  entries.delete(id);
  removals.delete(id);
  if (entries.size === 0 && removals.size === 0) allowExit(child);
}

/** Lets this process exit while the starter is idle. */
function allowExit(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

function starterDied(): StageError {
  return new StageError('starter-died', 'the process that started this program for the build was killed, and the program with it', {
    help: 'most likely the system ran out of memory: free some, or lower --jobs, and build again',
  });
}
