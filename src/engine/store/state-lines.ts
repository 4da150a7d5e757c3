/** The records of the state log: how each is encoded, and how a line is applied to the state. */
import type { Digest } from '../../base/digest.js';
import { parseDigest } from '../../base/digest.js';
import type { Json, JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import type { AcceptedStage, PublishedArtifact } from '../model/accepted-stage.js';
import type { ActionKey } from '../model/action-key.js';
import { parseArtifact } from '../model/artifact.js';
import { parseCheckedLine } from './files/checked-line.js';
import { isTexts, parseStamps } from './files/recorded-stamps.js';
import type { Stamp } from './files/stamp.js';
import type { KnownDevice, LoadableModules, StampedCode, StampedDigest, State, WrittenLock } from './state.js';

export function encodeStage(id: string, accepted: AcceptedStage): JsonObject {
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

export function encodeCode(module: string, { digest, stamps, modules }: StampedCode): JsonObject {
  return {
    code: module,
    digest,
    modules: { ...modules },
    stamps: { ...stamps, trees: stamps.trees.map(tree => ({ ...tree })), names: stamps.names.map(one => ({ ...one })) },
  };
}

export function encodeLock({ stamp, stages }: WrittenLock): JsonObject {
  return { lock: stamp, stages };
}

export function encodeDevice(description: Digest, { identity, seen }: KnownDevice): JsonObject {
  return { device: description, identity, seen };
}

export function encodeReplacing(id: string): JsonObject {
  return { replacing: id };
}

/** One line holds many files. */
export function encodeFiles(files: Iterable<readonly [string, StampedDigest]>): JsonObject {
  return { files: Object.fromEntries([...files].map(([file, { stamp, digest }]) => [file, [stamp, digest]])) };
}

/** Applies a line of the log to the state. @returns false if the line is damaged. */
export function applyLine(state: State, line: string): boolean {
  const record = parseCheckedLine(line);
  if (record === undefined) return false;
  if (typeof record.stage === 'string') return applyStage(state, record.stage, record);
  if (typeof record.replacing === 'string') return applyReplacing(state, record.replacing);
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
  state.replacing.delete(id);
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

function applyReplacing(state: State, id: string): boolean {
  state.replacing.add(id);
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
  const stamps = parseStamps(record.stamps);
  const modules = parseModules(record.modules);
  // A line of an older version lacks these fields: the modules are read again.
  if (stamps !== undefined && modules !== undefined) state.code.set(module, { digest, stamps, modules });
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
