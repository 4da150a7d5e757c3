/**
 * The log that holds the state of a pipeline: append-only, of checksummed lines. The last line of a name applies.
 */
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Digest } from '../../base/digest.js';
import type { JsonObject } from '../../base/json.js';
import { hasCode, isMissing } from '../../base/system-error.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import { encodeCheckedLine } from './files/checked-line.js';
import { followLog, type NewLines } from './files/follow-lines.js';
import { readRegularText } from './files/read-regular.js';
import { statLink } from './files/stamp.js';
import { isBlocked, renameOver } from './files/write-file.js';
import { emptyState, type KnownDevice, type StampedCode, type StampedDigest, type State, type WrittenLock } from './state.js';
import { applyLine, encodeCode, encodeDevice, encodeFiles, encodeLock, encodeReplacing, encodeStage } from './state-lines.js';

export interface LoadedState {
  readonly state: State;
  /** Lines that failed their check and were skipped, not counting a torn last line. */
  readonly damagedLines: number;
  readonly lines: number;
  /**
   * 'torn': a build was killed while it wrote the last line, which is ignored. 'blocked': the place of the log is a folder that holds something: it
   * stays, and no state is kept.
   */
  readonly end: 'whole' | 'torn' | 'blocked';
}

const HEADER = 'tanren-state 1';

/** Reads the log at `path`. A log that is missing, unreadable or written by another version gives an empty state, and so does a folder in its place. */
export function loadState(path: string): LoadedState {
  try {
    return parseState(readRegularText(path));
  } catch (error) {
    if (isMissing(error)) return parseState('');
    if (!hasCode(error, 'EFTYPE') || statLink(path)?.kind !== 'folder') return parseState(undefined);
    return { ...parseState(''), end: isBlocked(path) ? 'blocked' : 'whole' };
  }
}

/** @returns a function that returns the accepted results as they are now, as `loadState` reads them. It reads what was appended since its last call. */
export function followAccepted(path: string): () => ReadonlyMap<string, AcceptedStage> {
  const readNew = followLog(path, HEADER);
  let state = emptyState();
  let accepted: ReadonlyMap<string, AcceptedStage> = new Map();
  return () => {
    let news: NewLines;
    try {
      news = readNew();
    } catch {
      // As `loadState` has it: a build names what it cannot read.
      return new Map();
    }
    if (news.file !== 'same') state = emptyState();
    else if (news.lines.length === 0) return accepted;
    for (const line of news.lines) applyLine(state, line);
    accepted = new Map(state.stages);
    return accepted;
  };
}

/** What stamps prove. 'stamps': content is unchanged since it was read with the same stamp. 'nothing': all content is read again. */
export type Trust = 'stamps' | 'nothing';

/** The state without everything that only stamps prove: digests of files and code, and that artifacts are as published. */
export function distrustStamps({ state, ...loaded }: LoadedState): LoadedState {
  const stages = [...state.stages].map(([id, accepted]): [string, AcceptedStage] => {
    const outputs = Object.entries(accepted.outputs).map(([port, artifact]) => [port, { ...artifact, signature: '' }]);
    return [id, { ...accepted, outputs: Object.fromEntries(outputs), folderStamp: '' }];
  });
  return { ...loaded, state: { ...state, stages: new Map(stages), files: new Map(), code: new Map(), lock: undefined } };
}

/** @param text undefined if the file exists but cannot be read. */
export function parseState(text: string | undefined): LoadedState {
  const state = emptyState();
  if (text === undefined) return { state, damagedLines: 1, lines: 1, end: 'whole' };
  const lines = text.split('\n');
  const end = lines.pop() === '' ? 'whole' : 'torn';
  if (lines.length === 0) return { state, damagedLines: 0, lines: 0, end };
  if (lines[0] !== HEADER) return { state, damagedLines: lines.length, lines: lines.length, end };
  let damagedLines = 0;
  for (const line of lines.slice(1)) if (!applyLine(state, line)) damagedLines++;
  if (damagedLines > 0 || end === 'torn') state.lock = undefined;
  return { state, damagedLines, lines: lines.length, end };
}

export interface StateWriter {
  /** Records, before the artifacts of a stage are replaced, that they may no longer be the accepted ones. @throws file system errors. */
  startReplacing(id: string): void;
  acceptStage(id: string, accepted: AcceptedStage): void;
  stampFile(path: string, stamped: StampedDigest): void;
  stampCode(module: string, stamped: StampedCode): void;
  noteDevice(description: Digest, known: KnownDevice): void;
  noteLock(lock: WrittenLock): void;
  /** Writes the lines collected since the last flush in one append. @throws file system errors. */
  flush(): void;
}

/**
 * Appends to the log at `path` and updates `state`. Compacts the log by rename if most lines are superseded. Call only while holding the
 * lock.
 */
export function openStateWriter(path: string, loaded: LoadedState): StateWriter {
  const { state } = loaded;
  let { lines } = loaded;
  let fresh = loaded.damagedLines > 0 || loaded.lines === 0 || loaded.end === 'torn';
  let pending: string[] = [];
  const pendingFiles = new Map<string, StampedDigest>();
  const push = (record: JsonObject): void => {
    pending.push(encodeCheckedLine(record));
  };
  const writer: StateWriter = {
    startReplacing(id) {
      if (state.replacing.has(id)) return;
      state.replacing.add(id);
      push(encodeReplacing(id));
      writer.flush();
    },
    acceptStage(id, accepted) {
      state.stages.set(id, accepted);
      state.replacing.delete(id);
      state.lock = undefined;
      push(encodeStage(id, accepted));
    },
    stampFile(file, stamped) {
      state.files.set(file, stamped);
      pendingFiles.set(file, stamped);
    },
    stampCode(module, stamped) {
      state.code.set(module, stamped);
      push(encodeCode(module, stamped));
    },
    noteDevice(description, known) {
      state.devices.set(description, known);
      push(encodeDevice(description, known));
    },
    noteLock(lock) {
      state.lock = lock;
      push(encodeLock(lock));
    },
    flush() {
      if (pendingFiles.size > 0) push(encodeFiles(pendingFiles));
      pendingFiles.clear();
      // A warning named the folder when the session was opened.
      if (loaded.end === 'blocked') pending = [];
      if (pending.length === 0) return;
      if (fresh || lines > 200 + 3 * (state.stages.size + state.code.size + state.devices.size)) {
        lines = rewrite(path, state);
        fresh = false;
      } else {
        // A log with a torn end was rewritten, so the file ends with a complete line here.
        appendFileSync(path, pending.join(''), { mode: 0o600 });
        lines += pending.length;
      }
      pending = [];
    },
  };
  return writer;
}

function rewrite(path: string, state: State): number {
  const lines = [
    `${HEADER}\n`,
    ...(state.files.size === 0 ? [] : [encodeCheckedLine(encodeFiles(state.files))]),
    ...[...state.code].map(([module, stamped]) => encodeCheckedLine(encodeCode(module, stamped))),
    ...[...state.devices].map(([description, known]) => encodeCheckedLine(encodeDevice(description, known))),
    ...[...state.stages].map(([id, accepted]) => encodeCheckedLine(encodeStage(id, accepted))),
    ...[...state.replacing].map(id => encodeCheckedLine(encodeReplacing(id))),
    // Last, because every stage line clears it.
    ...(state.lock === undefined ? [] : [encodeCheckedLine(encodeLock(state.lock))]),
  ];
  const temporary = `${path}.tmp`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, lines.join(''), { flag: 'wx', mode: 0o600 });
  renameOver(temporary, path);
  return lines.length;
}
