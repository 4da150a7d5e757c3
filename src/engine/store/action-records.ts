/** Which results does an action have? One small checked file per key, written after the blobs that it names. */
import { readFileSync, statSync } from 'node:fs';
import { rm, utimes } from 'node:fs/promises';
import { encodeCanonicalJson } from '../../base/canonical-json.js';
import { digestBytes, parseDigest } from '../../base/digest.js';
import type { Json, JsonObject } from '../../base/json.js';
import { isJsonObject, parseJson } from '../../base/json.js';
import type { Artifacts, BlobRef } from '../model/artifact.js';
import { encodeArtifacts, parseArtifacts, sameArtifacts } from '../model/artifact.js';
import { isMissing } from '../model/engine-error.js';
import type { CacheFolder } from './cache-folder.js';
import { writeWhole } from './files/write-file.js';

export interface ActionRecord {
  readonly manifest: JsonObject;
  /** Newest last. Several: the action is not deterministic, or was not on one machine. */
  readonly results: readonly ActionResult[];
}

export interface ActionResult {
  readonly outputs: Artifacts;
  readonly metrics: JsonObject | undefined;
  /** Blob with what the run logged. */
  readonly log: BlobRef | undefined;
  /** Blob with the keys of the parts that the run used; absent where it used none. Nothing needs them, but runs of changed stages are quick where they are there. */
  readonly parts?: BlobRef | undefined;
  /** A hint for scheduling; no part of anything compared. */
  readonly durationMs: number;
}

export interface ActionRecords {
  /** The record of a key; 'damaged' where its file is there and does not check. */
  find(key: string): Promise<ActionRecord | 'damaged' | undefined>;
  /** Adds a result as the newest. @returns an earlier result with other bytes, where there is one. */
  add(key: string, manifest: JsonObject, result: ActionResult): Promise<ActionResult | undefined>;
  /** Notes that a result was used now: what is unused longest leaves a full cache first. Only a hint, so a cache that takes no note is none the worse. */
  noteUse(key: string): Promise<void>;
  /** Adds the results of another cache's record, as older than those that are here. 'different': an action has results with other bytes here and there; all are kept. */
  merge(key: string, record: ActionRecord): Promise<'added' | 'known' | 'different'>;
  /** Takes a result away whose blobs are gone. */
  dropResult(key: string, result: ActionResult): Promise<void>;
}

/** Reads a record of a folder on this machine at once. */
export function readRecord(cache: CacheFolder, key: string): ActionRecord | 'damaged' | undefined {
  const text = readIfThere(cache.record(key));
  return text === undefined ? undefined : (decodeRecord(text) ?? 'damaged');
}

export function openActionRecords(cache: CacheFolder): ActionRecords {
  const find = (key: string): ActionRecord | 'damaged' | undefined => readRecord(cache, key);
  const write = (key: string, record: ActionRecord): Promise<void> => writeWhole(cache.record(key), encodeRecord(record), 'no-flush');
  return {
    find: async key => find(key),
    async add(key, manifest, result) {
      const earlier = find(key);
      const others = earlier === undefined || earlier === 'damaged' ? [] : earlier.results;
      const different = others.filter(other => !sameArtifacts(other.outputs, result.outputs));
      await write(key, { manifest, results: [...different, result] });
      return different.at(-1);
    },
    async merge(key, { manifest, results }) {
      const earlier = find(key);
      const here = earlier === undefined || earlier === 'damaged' ? [] : earlier.results;
      const others = results.filter(result => !here.some(one => sameArtifacts(one.outputs, result.outputs)));
      if (others.length === 0) return 'known';
      await write(key, { manifest, results: [...others, ...here] });
      return here.length === 0 ? 'added' : 'different';
    },
    async noteUse(key) {
      const now = new Date();
      // A read-only cache takes no note, and nothing leaves it either.
      await utimes(cache.record(key), now, now).catch(() => undefined);
    },
    async dropResult(key, result) {
      const record = find(key);
      if (record === undefined || record === 'damaged') return;
      const results = record.results.filter(other => !sameArtifacts(other.outputs, result.outputs));
      if (results.length === 0) await rm(cache.record(key), { force: true });
      else await write(key, { ...record, results });
    },
  };
}

function readIfThere(path: string): string | undefined {
  try {
    // Most often there is none, and an error costs more than a look.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    return readFileSync(path, 'utf8');
  } catch (error) {
    return isMissing(error) ? undefined : '';
  }
}

/** The digest of the body on the first line: a truncated or changed file does not check. */
export function encodeRecord(record: ActionRecord): string {
  const body = encodeCanonicalJson({ format: 1, manifest: record.manifest, results: record.results.map(encodeResult) });
  return `${digestBytes(body)}\n${body}\n`;
}

function encodeResult(result: ActionResult): Json {
  return {
    outputs: encodeArtifacts(result.outputs),
    durationMs: Math.round(result.durationMs),
    ...(result.metrics === undefined ? {} : { metrics: result.metrics }),
    ...encodeRef('log', result.log),
    ...encodeRef('parts', result.parts),
  };
}

function encodeRef(name: 'log' | 'parts', ref: BlobRef | undefined): JsonObject {
  if (ref === undefined) return {};
  return { [name]: ref.digest, ...(ref.sizeBytes === undefined ? {} : { [`${name}SizeBytes`]: ref.sizeBytes }) };
}

function decodeRef(text: Json | undefined, sizeBytes: Json | undefined): BlobRef | undefined {
  const digest = parseDigest(text);
  return digest === undefined ? undefined : { digest, ...(typeof sizeBytes === 'number' ? { sizeBytes } : {}) };
}

/** The record in a file's text; undefined where it does not check. */
export function decodeRecord(text: string): ActionRecord | undefined {
  const [check, body] = text.split('\n');
  if (check === undefined || body === undefined || digestBytes(body) !== check) return undefined;
  const document = parseJson(body);
  if (!isJsonObject(document) || document.format !== 1 || !isJsonObject(document.manifest) || !Array.isArray(document.results))
    return undefined;
  const results = document.results.map(decodeResult).filter(result => result !== undefined);
  return results.length === 0 ? undefined : { manifest: document.manifest, results };
}

function decodeResult(value: Json): ActionResult | undefined {
  if (!isJsonObject(value)) return undefined;
  const outputs = parseArtifacts(value.outputs);
  if (outputs === undefined) return undefined;
  return {
    outputs,
    metrics: isJsonObject(value.metrics) ? value.metrics : undefined,
    log: decodeRef(value.log, value.logSizeBytes),
    parts: decodeRef(value.parts, value.partsSizeBytes),
    durationMs: typeof value.durationMs === 'number' ? value.durationMs : 0,
  };
}
