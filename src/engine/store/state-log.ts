/**
 * The state of a pipeline: accepted results, and the digests that stamps prove.
 * It is one append-only log of checksummed lines. The last line of a name applies.
 */
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Digest } from '../../base/digest.js';
import { parseDigest } from '../../base/digest.js';
import type { Json, JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import type { AcceptedStage, PublishedArtifact } from '../model/accepted-stage.js';
import type { ActionKey } from '../model/action-key.js';
import { parseArtifact } from '../model/artifact.js';
import { isMissing } from '../model/engine-error.js';
import { encodeCheckedLine, parseCheckedLine } from './files/checked-line.js';
import { isTexts, parseSights, type Sights } from './files/sights.js';
import type { Stamp } from './files/stamp.js';

/** A digest that is valid as long as the file has this stamp. */
export interface StampedDigest {
  readonly stamp: Stamp;
  readonly digest: Digest;
}

/** The code digest of a third-party module, valid as long as all its dependencies have these stamps. */
export interface StampedCode {
  readonly digest: Digest;
  readonly sights: Sights;
  readonly modules: LoadableModules;
}

/** The files of a plugin's code that a worker may load. */
export interface LoadableModules {
  /** Absolute paths, with links resolved. */
  readonly paths: readonly string[];
  /** Folders of installed packages. */
  readonly packages: readonly string[];
  /** 'computed': a module may import a path that is not a literal. */
  readonly imports: 'named' | 'computed';
}

/** The identity that a device reported when it was last started. */
export interface KnownDevice {
  readonly identity: JsonObject;
  /** ISO 8601, UTC. */
  readonly seen: string;
}

export interface State {
  readonly stages: Map<string, AcceptedStage>;
  readonly files: Map<string, StampedDigest>;
  readonly code: Map<string, StampedCode>;
  /** Keyed by the digest of the device description of the plugins. */
  readonly devices: Map<Digest, KnownDevice>;
  /** The lock file as a build wrote it; undefined if a result was accepted since. */
  lock: WrittenLock | undefined;
}

/** The stamp that a lock file had when it matched the accepted results. */
export interface WrittenLock {
  readonly stamp: Stamp;
  /** Digest of the ids of all stages that it was written for. */
  readonly stages: Digest;
}

export interface LoadedState {
  readonly state: State;
  /** Lines that failed their check and were skipped, not counting a torn last line. */
  readonly damagedLines: number;
  readonly lines: number;
  /** 'torn': a build was killed while it wrote the last line, which is ignored. */
  readonly end: 'whole' | 'torn';
}

const HEADER = 'tanren-state 1';

/** Reads the log at `path`. A log that is missing, unreadable or written by another version gives an empty state. */
export function loadState(path: string): LoadedState {
  return parseState(readText(path));
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
  const state: State = { stages: new Map(), files: new Map(), code: new Map(), devices: new Map(), lock: undefined };
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

/** Undefined if the file exists but cannot be read. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return isMissing(error) ? '' : undefined;
  }
}

export interface StateWriter {
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
  let pendingFiles: Record<string, Json> = {};
  const push = (record: JsonObject): void => {
    pending.push(encodeCheckedLine(record));
  };
  return {
    acceptStage(id, accepted) {
      state.stages.set(id, accepted);
      state.lock = undefined;
      push(encodeStage(id, accepted));
    },
    stampFile(file, stamped) {
      state.files.set(file, stamped);
      pendingFiles[file] = [stamped.stamp, stamped.digest];
    },
    stampCode(module, stamped) {
      state.code.set(module, stamped);
      push(encodeCode(module, stamped));
    },
    noteDevice(description, known) {
      state.devices.set(description, known);
      push({ device: description, identity: known.identity, seen: known.seen });
    },
    noteLock(lock) {
      state.lock = lock;
      push(encodeLock(lock));
    },
    flush() {
      if (Object.keys(pendingFiles).length > 0) push({ files: pendingFiles });
      pendingFiles = {};
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
}

function rewrite(path: string, state: State): number {
  const files = [...state.files].map(([file, { stamp, digest }]) => [file, [stamp, digest]] as const);
  const lines = [
    `${HEADER}\n`,
    ...(files.length === 0 ? [] : [encodeCheckedLine({ files: Object.fromEntries(files) })]),
    ...[...state.code].map(([module, stamped]) => encodeCheckedLine(encodeCode(module, stamped))),
    ...[...state.devices].map(([description, { identity, seen }]) => encodeCheckedLine({ device: description, identity, seen })),
    ...[...state.stages].map(([id, accepted]) => encodeCheckedLine(encodeStage(id, accepted))),
    // Last, because every stage line clears it.
    ...(state.lock === undefined ? [] : [encodeCheckedLine(encodeLock(state.lock))]),
  ];
  const temporary = `${path}.tmp`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, lines.join(''), { flag: 'wx', mode: 0o600 });
  renameSync(temporary, path);
  return lines.length;
}

function encodeStage(id: string, accepted: AcceptedStage): JsonObject {
  const outputs = Object.fromEntries(Object.entries(accepted.outputs).map(([port, artifact]) => [port, { ...artifact }]));
  return {
    stage: id,
    key: accepted.key,
    quickKey: accepted.quickKey,
    outputs,
    folderStamp: accepted.folderStamp,
    durationMs: Math.round(accepted.durationMs),
    ...(accepted.metrics === undefined ? {} : { metrics: accepted.metrics }),
    ...(accepted.previousMetrics === undefined ? {} : { previousMetrics: accepted.previousMetrics }),
  };
}

function encodeCode(module: string, { digest, sights, modules }: StampedCode): JsonObject {
  return {
    code: module,
    digest,
    modules: { ...modules },
    sights: { ...sights, trees: sights.trees.map(tree => ({ ...tree })), names: sights.names.map(one => ({ ...one })) },
  };
}

function encodeLock({ stamp, stages }: WrittenLock): JsonObject {
  return { lock: stamp, stages };
}

function applyLine(state: State, line: string): boolean {
  const record = parseCheckedLine(line);
  if (record === undefined) return false;
  if (typeof record.stage === 'string') return applyStage(state, record.stage, record);
  if (typeof record.code === 'string') return applyCode(state, record.code, record);
  if (record.device !== undefined) return applyDevice(state, record);
  if (record.lock !== undefined) return applyLock(state, record);
  return isJsonObject(record.files) && applyFiles(state, record.files);
}

function applyStage(state: State, id: string, record: JsonObject): boolean {
  const { key, outputs } = record;
  if (typeof key !== 'string' || !isJsonObject(outputs)) return false;
  const published: Record<string, PublishedArtifact> = {};
  for (const [port, value] of Object.entries(outputs)) {
    const artifact = parseArtifact(value);
    if (artifact === undefined || !isJsonObject(value) || typeof value.signature !== 'string') return false;
    published[port] = { ...artifact, signature: value.signature };
  }
  state.lock = undefined;
  state.stages.set(id, {
    key: key as ActionKey,
    quickKey: typeof record.quickKey === 'string' ? record.quickKey : '',
    outputs: published,
    folderStamp: typeof record.folderStamp === 'string' ? record.folderStamp : '',
    metrics: isJsonObject(record.metrics) ? record.metrics : undefined,
    previousMetrics: isJsonObject(record.previousMetrics) ? record.previousMetrics : undefined,
    durationMs: typeof record.durationMs === 'number' ? record.durationMs : 0,
  });
  return true;
}

function applyFiles(state: State, files: JsonObject): boolean {
  for (const [path, value] of Object.entries(files)) {
    const [stamp, text] = Array.isArray(value) ? value : [];
    const digest = parseDigest(text);
    if (typeof stamp !== 'string' || digest === undefined) return false;
    state.files.set(path, { stamp: stamp as Stamp, digest });
  }
  return true;
}

function applyCode(state: State, module: string, record: JsonObject): boolean {
  const digest = parseDigest(record.digest);
  if (digest === undefined) return false;
  const sights = parseSights(record.sights);
  const modules = parseModules(record.modules);
  // A line of an older version lacks these fields: the modules are read again.
  if (sights !== undefined && modules !== undefined) state.code.set(module, { digest, sights, modules });
  return true;
}

function parseModules(value: Json | undefined): LoadableModules | undefined {
  if (!isJsonObject(value) || !isTexts(value.paths) || !isTexts(value.packages)) return undefined;
  return { paths: value.paths, packages: value.packages, imports: value.imports === 'named' ? 'named' : 'computed' };
}

function applyDevice(state: State, { device, identity, seen }: JsonObject): boolean {
  const description = parseDigest(device);
  if (description === undefined || !isJsonObject(identity) || typeof seen !== 'string') return false;
  state.devices.set(description, { identity, seen });
  return true;
}

function applyLock(state: State, { lock, stages }: JsonObject): boolean {
  const digest = parseDigest(stages);
  if (typeof lock !== 'string' || digest === undefined) return false;
  state.lock = { stamp: lock as Stamp, stages: digest };
  return true;
}
