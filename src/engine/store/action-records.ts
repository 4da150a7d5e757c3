/** Action records: one checksummed file per action key with the results of the action, written after the blobs that it names. */
import { statSync } from 'node:fs';
import { rm, utimes } from 'node:fs/promises';
import { digestBytes, digestJson, parseDigest } from '../../base/digest.js';
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import type { Json, JsonObject } from '../../base/json.js';
import { isJsonObject, parseJson } from '../../base/json.js';
import { isMissing } from '../../base/system-error.js';
import type { Artifacts, BlobRef } from '../model/artifact.js';
import { encodeArtifacts, parseArtifacts, sameArtifacts } from '../model/artifact.js';
import type { CacheFolder } from './cache-folder.js';
import { readRegularText } from './files/read-regular.js';
import { writeWhole } from './files/write-file.js';

export interface ActionRecord {
  readonly manifest: JsonObject;
  /** Newest last. More than one result means that the action is not deterministic, or gave different bytes on different machines. */
  readonly results: readonly ActionResult[];
}

export interface ActionResult {
  readonly outputs: Artifacts;
  readonly metrics: JsonObject | undefined;
  /** Blob with the log of the run. */
  readonly log: BlobRef | undefined;
  /**
   * Blob with the keys of the parts that the run used; absent if it used none. Parts are optional: they only make runs of changed stages
   * faster.
   */
  readonly parts?: BlobRef | undefined;
  /** A hint for scheduling. It is never compared. */
  readonly durationMs: number;
}

export interface ActionRecords {
  /** The record of a key; 'damaged' if its file exists but fails its check. */
  find(key: string): Promise<ActionRecord | 'damaged' | undefined>;
  /** Adds a result as the newest. @returns an earlier result with different bytes, if there is one. */
  add(key: string, manifest: JsonObject, result: ActionResult): Promise<ActionResult | undefined>;
  /**
   * Records that a result was used now. A full cache removes the least recently used results first. This is only a hint: a cache that
   * cannot record it stays correct.
   */
  noteUse(key: string): Promise<void>;
  /**
   * Adds the results of another cache's record as older than the results here. 'different': the action has results with different bytes
   * here and there; all are kept.
   */
  merge(key: string, record: ActionRecord): Promise<'added' | 'known' | 'different'>;
  /** Removes a result whose blobs are missing. */
  dropResult(key: string, result: ActionResult): Promise<void>;
}

/** Reads the record of a local cache folder synchronously. The record of another action, in a file that was renamed, is damaged. */
export function readRecord(cache: CacheFolder, key: string): ActionRecord | 'damaged' | undefined {
  const text = readIfThere(cache.record(key));
  if (text === undefined) return undefined;
  const record = decodeRecord(text);
  return record !== undefined && digestJson(record.manifest) === key ? record : 'damaged';
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
      // A read-only cache cannot record the use, and nothing is removed from it either.
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
    // Usually there is no file, and an exception costs more than a stat call.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    return readRegularText(path);
  } catch (error) {
    return isMissing(error) ? undefined : '';
  }
}

/** Writes the digest of the body on the first line, so that a truncated or changed file fails its check. */
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

/** The record in the text of a file; undefined if the text fails its check. */
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
