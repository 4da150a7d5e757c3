/** The starter processes of a build: small processes that start its programs. Starting a program takes longer the more memory the parent process has. */
import type { Writable } from 'node:stream';
import type { OutputStream, Program, StartedProgram } from '../../../stage/tool-runner.js';
import { closeStarter, isReady, openStarter, removeFolders, type Starter, startProgram } from './open-starter.js';
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

/**
 * Number of folders per removal message, and maximum number of such messages in flight.
 * The limit bounds the disk space of folders that are not yet removed.
 */
const FOLDERS_AT_ONCE = 8;
const MOST_REMOVALS = 8;

/** The processes are started when they are needed. On Windows there are none. */
export function createStarters(installRoot: string, { count, after, reaper }: StarterOptions): Starters {
  let starters: readonly Starter[] | undefined;
  let asked = 0;
  let ended: string[] = [];
  const removals = new Set<Promise<void>>();
  const findIdlest = (): Starter | undefined => {
    const ready = (starters ?? []).filter(isReady);
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
    const removal = removeFolders(starter, { id: asked, folders, small: 'later' }).then(() => void removals.delete(removal));
    removals.add(removal);
  };
  return {
    start(program, onOutput) {
      asked += 1;
      if (asked <= after || process.platform === 'win32') return undefined;
      starters ??= Array.from({ length: count }, () => openStarter(installRoot, reaper?.input()));
      const starter = findIdlest();
      return starter === undefined ? undefined : startProgram(starter, asked, program, onOutput);
    },
    async remove(folder) {
      if (starters === undefined) return removeRunFolder(folder);
      ended.push(folder);
      if (ended.length >= FOLDERS_AT_ONCE) await removeEnded();
    },
    async close() {
      await removeEnded();
      await Promise.all(removals);
      const up = (starters ?? []).filter(isReady);
      await Promise.all(up.map((starter, index) => removeFolders(starter, { id: asked + 1 + index, folders: [], small: 'now' })));
      for (const starter of starters ?? []) closeStarter(starter);
      starters = [];
    },
  };
}
