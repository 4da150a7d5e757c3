/** The starter processes of a build: small processes that start its programs, as a process takes the longer to start another the more memory it has. */
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
  /** Undefined where no starter is ready: then the caller starts the program itself. */
  start(program: Program, hear: (stream: OutputStream, text: string) => void): StartedProgram | undefined;
  /** Removes the folder of a run that has ended: where there are starters, later and in one of them, as removing folders may wait for the disk. */
  remove(folder: string): Promise<void>;
  /** Ends the starters, and with them what still runs, when all folders are removed. */
  close(): Promise<void>;
}

export interface StarterOptions {
  /** How many processes. */
  readonly count: number;
  /** So many programs are started without them: a small build is over before a starter is up. */
  readonly after: number;
  /** Told by the starters of each group that starts and ends. */
  readonly reaper: { input(): Writable | undefined } | undefined;
}

interface Entry {
  readonly hear: (stream: OutputStream, text: string) => void;
  readonly resolve: (result: SpawnResult) => void;
  readonly reject: (error: Error) => void;
  pid: number | undefined;
}

interface Starter {
  readonly entries: ReadonlyMap<number, Entry>;
  isReady(): boolean;
  start(id: number, program: Program, hear: Entry['hear']): StartedProgram;
  remove(id: number, folders: readonly string[], small: 'later' | 'now'): Promise<void>;
  close(): void;
}

/** So many folders are removed by one message, and so many messages may be on their way: the space of folders is free only then. */
const FOLDERS_AT_ONCE = 8;
const MOST_REMOVALS = 8;

/** More than a starter takes to end a program that does not want to. */
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
    start(program, hear) {
      asked += 1;
      if (asked <= after || process.platform === 'win32') return undefined;
      starters ??= Array.from({ length: count }, () => openStarter(installRoot, reaper));
      return findIdlest()?.start(asked, program, hear);
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

/** A small heap: what a process has mapped is what starting another one costs. */
const HEAP = ['--max-semi-space-size=1'];

function openStarter(installRoot: string, reaper: StarterOptions['reaper']): Starter {
  const entries = new Map<number, Entry>();
  const removals = new Map<number, () => void>();
  let state: 'starting' | 'ready' | 'gone' = 'starting';
  // In a session of its own: neither Ctrl-C nor the end of the terminal reaches it before the build has ended what runs.
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
    // What is left goes when the build ends.
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
        entry.hear(message.stream, message.text);
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
    start(id, program, hear) {
      const ended = new Promise<SpawnResult>((resolve, reject) => {
        entries.set(id, { hear, resolve, reject, pid: undefined });
      });
      child.channel?.ref();
      tell({ kind: 'start', id, program });
      const stop = (): void => {
        tell({ kind: 'stop', id });
        // One that does not answer, as it was stopped or hangs, is no reason to wait for ever.
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

/** Nothing waits for an idle starter. */
function letGo(child: ChildProcess): void {
  child.unref();
  child.channel?.unref();
}

function starterDied(): StageError {
  return new StageError('starter-died', 'the process that started this program for the build was killed, and the program with it', {
    help: 'most likely the system ran out of memory: free some, or lower --jobs, and build again',
  });
}
