/** The starter processes of a build: small processes that start its programs. Starting a program takes longer the more memory the parent process has. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { assertNever } from '../../../base/assert-never.js';
import type { SpawnResult } from '../../../stage/context.js';
import { signalTo } from '../../../stage/process-group.js';
import { StageError } from '../../../stage/stage-error.js';
import type { OutputStream, Program, StartedProgram } from '../../../stage/tool-runner.js';
import type { FromStarter, ToStarter } from './messages.js';
import { removeRunFolder } from './remove-run-folder.js';

export interface Starters {
  /** Returns undefined if no starter is ready. The caller then starts the program itself. */
  start(program: Program, onOutput: (stream: OutputStream, text: string) => void): StartedProgram | undefined;
  /**
   * Removes the folder of a run that has ended.
   * If there are starters, one of them removes it later, because removing folders may wait for the disk.
   */
  remove(folder: string): Promise<void>;
  /** Ends the starters and the programs that still run, once all folders are removed. */
  close(): Promise<void>;
}

export interface StarterOptions {
  /** Number of processes. */
  readonly count: number;
  /** Number of programs that are started without starters, because a small build ends before a starter is running. */
  readonly after: number;
  /** The starters report to it each process group that starts or ends. */
  readonly reaper: { input(): Writable | undefined } | undefined;
}

interface Entry {
  readonly onOutput: (stream: OutputStream, text: string) => void;
  readonly resolve: (result: SpawnResult) => void;
  readonly reject: (error: Error) => void;
  pid: number | undefined;
}

interface Starter {
  readonly entries: ReadonlyMap<number, Entry>;
  isReady(): boolean;
  start(id: number, program: Program, onOutput: Entry['onOutput']): StartedProgram;
  remove(id: number, folders: readonly string[], small: 'later' | 'now'): Promise<void>;
  close(): void;
}

/**
 * Number of folders per removal message, and maximum number of such messages in flight.
 * The limit bounds the disk space of folders that are not yet removed.
 */
const FOLDERS_AT_ONCE = 8;
const MOST_REMOVALS = 8;

/** More than the time a starter needs to end a program that does not stop by itself. */
const ANSWER_MS = 5_000;

/** The processes are started when they are needed. On Windows there are none. */
export function createStarters(installRoot: string, { count, after, reaper }: StarterOptions): Starters {
  let starters: readonly Starter[] | undefined;
  let asked = 0;
  let ended: string[] = [];
  const removals = new Set<Promise<void>>();
  const findIdlest = (): Starter | undefined => {
    const ready = (starters ?? []).filter(starter => starter.isReady());
    return ready.reduce<Starter | undefined>((a, b) => (a !== undefined && a.entries.size <= b.entries.size ? a : b), undefined);
  };
  const removeEnded = async (): Promise<void> => {
    const folders = ended;
    ended = [];
    const starter = removals.size < MOST_REMOVALS ? findIdlest() : undefined;
    if (starter === undefined) {
      for (const folder of folders) await removeRunFolder(folder);
      return;
    }
    asked += 1;
    const removal = starter.remove(asked, folders, 'later').then(() => void removals.delete(removal));
    removals.add(removal);
  };
  return {
    start(program, onOutput) {
      asked += 1;
      if (asked <= after || process.platform === 'win32') return undefined;
      starters ??= Array.from({ length: count }, () => openStarter(installRoot, reaper));
      return findIdlest()?.start(asked, program, onOutput);
    },
    async remove(folder) {
      if (starters === undefined) return removeRunFolder(folder);
      ended.push(folder);
      if (ended.length >= FOLDERS_AT_ONCE) await removeEnded();
    },
    async close() {
      await removeEnded();
      await Promise.all(removals);
      const up = (starters ?? []).filter(starter => starter.isReady());
      await Promise.all(up.map((starter, index) => starter.remove(asked + 1 + index, [], 'now')));
      for (const starter of starters ?? []) starter.close();
      starters = [];
    },
  };
}

/** A small heap, because the cost of starting a process grows with the memory that the parent has mapped. */
const HEAP = ['--max-semi-space-size=1'];

function openStarter(installRoot: string, reaper: StarterOptions['reaper']): Starter {
  const entries = new Map<number, Entry>();
  const removals = new Map<number, () => void>();
  let state: 'starting' | 'ready' | 'gone' = 'starting';
  // The starter has its own session: neither Ctrl-C nor the end of the terminal reaches it before the build has ended its programs.
  const child = fork(join(installRoot, 'src/engine/execute/starter/main.js'), [], {
    cwd: '/',
    env: {},
    execArgv: HEAP,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', reaper?.input() ?? 'ignore'],
    detached: true,
  });
  const gone = (): void => {
    state = 'gone';
    for (const { pid, reject } of entries.values()) {
      if (pid !== undefined) signalTo(pid, 'group', 'SIGKILL');
      reject(starterDied());
    }
    entries.clear();
    // The remaining folders are removed when the build ends.
    for (const resolve of removals.values()) resolve();
    removals.clear();
  };
  const tell = (message: ToStarter): void => {
    if (child.connected) child.send(message, () => undefined);
  };
  const forget = (id: number): void => {
    entries.delete(id);
    removals.delete(id);
    if (entries.size === 0 && removals.size === 0) letGo(child);
  };
  child.on('error', gone);
  child.on('disconnect', gone);
  child.on('message', (message: FromStarter) => {
    if (message.kind === 'ready') {
      state = state === 'starting' ? 'ready' : state;
      return;
    }
    if (message.kind === 'removed') {
      removals.get(message.id)?.();
      forget(message.id);
      return;
    }
    const entry = entries.get(message.id);
    if (entry === undefined) return;
    switch (message.kind) {
      case 'started':
        entry.pid = message.pid;
        return;
      case 'output':
        entry.onOutput(message.stream, message.text);
        return;
      case 'ended':
        forget(message.id);
        entry.resolve({ exitCode: message.exitCode, signal: message.signal });
        return;
      case 'failed':
        forget(message.id);
        entry.reject(Object.assign(new Error(message.message), { code: message.code }));
        return;
      default:
        assertNever(message);
    }
  });
  letGo(child);
  return {
    entries,
    isReady: () => state === 'ready',
    start(id, program, onOutput) {
      const ended = new Promise<SpawnResult>((resolve, reject) => {
        entries.set(id, { onOutput, resolve, reject, pid: undefined });
      });
      child.channel?.ref();
      tell({ kind: 'start', id, program });
      const stop = (): void => {
        tell({ kind: 'stop', id });
        // A starter that does not answer, because it was stopped or hangs, must not block the build forever.
        const timer = setTimeout(() => entries.has(id) && child.kill('SIGKILL'), ANSWER_MS);
        ended.catch(() => undefined).finally(() => clearTimeout(timer));
      };
      return { ended, stop };
    },
    remove(id, folders, small) {
      const removed = new Promise<void>(resolve => removals.set(id, resolve));
      child.channel?.ref();
      tell({ kind: 'remove', id, folders, small });
      return removed;
    },
    close() {
      if (child.connected) child.disconnect();
    },
  };
}

/** Lets this process exit while the starter is idle. */
function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

function starterDied(): StageError {
  return new StageError('starter-died', 'the process that started this program for the build was killed, and the program with it', {
    help: 'most likely the system ran out of memory: free some, or lower --jobs, and build again',
  });
}
