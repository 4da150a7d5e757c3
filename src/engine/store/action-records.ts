/** Action records: one checksummed file per action key with the results of the action, written after the blobs that it names. */
import { statSync } from 'node:fs';
import { rm, utimes } from 'node:fs/promises';
import { type Digest, digestBytes, digestJson } from '../../base/digest.js';
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import { readJsonShape } from '../../base/json/json-shape.js';
import type { Json, JsonObject } from '../../base/json.js';
import { parseJson } from '../../base/json.js';
import { ANYTHING, anyObject, constant, integer, list, number, openObject } from '../../base/schema/build-schema.js';
import { DIGEST_SCHEMA } from '../../base/schema/digest-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { isMissing } from '../../base/system-error.js';
import { ARTIFACTS, type Artifacts, type BlobRef, haveFileNames, sameArtifacts } from '../model/artifact.js';
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

const RESULT = openObject(
  { outputs: ARTIFACTS },
  {
    metrics: anyObject(),
    durationMs: number({}, 'A hint for scheduling.'),
    log: DIGEST_SCHEMA,
    logSizeBytes: integer(0, 'Absent in data written by Tanren 0.1, as is partsSizeBytes.'),
    parts: DIGEST_SCHEMA,
    partsSizeBytes: integer(0),
  },
);

/** `results` are read one by one: a result in another form is no reason to lose the others. */
const RECORD = openObject({ format: constant(1), manifest: anyObject(), results: list(ANYTHING) });

const [readResult, readDocument] = [readerOf(RESULT), readerOf(RECORD)];

function encodeResult({ outputs, durationMs, metrics, log, parts }: ActionResult): FromSchema<typeof RESULT> {
  return {
    outputs,
    durationMs: Math.round(durationMs),
    ...(metrics === undefined ? {} : { metrics }),
    ...(log === undefined ? {} : { log: log.digest }),
    ...(log?.sizeBytes === undefined ? {} : { logSizeBytes: log.sizeBytes }),
    ...(parts === undefined ? {} : { parts: parts.digest }),
    ...(parts?.sizeBytes === undefined ? {} : { partsSizeBytes: parts.sizeBytes }),
  };
}

/** The record in the text of a file; undefined if the text fails its check. */
export function decodeRecord(text: string): ActionRecord | undefined {
  const [check, body] = text.split('\n');
  if (check === undefined || body === undefined || digestBytes(body) !== check) return undefined;
  const document = readJsonShape(readDocument, parseJson(body));
  if (document.kind === 'problems') return undefined;
  const { manifest } = document.value;
  const results = document.value.results.flatMap(value => decodeResult(value) ?? []);
  return results.length === 0 ? undefined : { manifest, results };
}

function decodeResult(value: Json): ActionResult | undefined {
  const read = readJsonShape(readResult, value);
  if (read.kind === 'problems' || !haveFileNames(read.value.outputs)) return undefined;
  const { outputs, metrics, log, logSizeBytes, parts, partsSizeBytes, durationMs = 0 } = read.value;
  return { outputs, metrics, log: refOf(log, logSizeBytes), parts: refOf(parts, partsSizeBytes), durationMs };
}

function refOf(digest: Digest | undefined, sizeBytes: number | undefined): BlobRef | undefined {
  return digest === undefined ? undefined : { digest, ...(sizeBytes === undefined ? {} : { sizeBytes }) };
}
