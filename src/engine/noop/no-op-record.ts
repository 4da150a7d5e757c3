/**
 * The no-op record: the stamps of everything that a build read to find all stages up to date.
 * While all of them are unchanged, a later build reports immediately that nothing is out of date.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { isJsonObject, parseJson } from '../../base/json.js';
import type { GateResult } from '../model/gate-result.js';
import type { RecordedStamps } from '../store/files/recorded-stamps.js';
import { statPath } from '../store/files/stamp.js';
import { checksumOf } from './checksum.js';

export interface NoOpRecord {
  /** The request, in the caller's format. */
  readonly request: string;
  /** Programs by the name that stages use, and the path where each was found. */
  readonly programs: readonly (readonly [string, string])[];
  /** Declared variables by name: the digest of the value, or null if the variable was not set. */
  readonly environment: readonly (readonly [string, Digest | null])[];
  /** Guard of the platform class; null if no stage runs a model. */
  readonly platform: string | null;
  /** Null if no stage is measured. */
  readonly host: string | null;
  readonly stamps: RecordedStamps;
  readonly report: SettledReport;
}

/** The report of a build that finds nothing to do. */
export interface SettledReport {
  readonly pipeline: string;
  /** Number of stages that are up to date. */
  readonly stages: number;
  /** All gates are met. */
  readonly gates: readonly GateResult[];
}

const HEAD = 'tanren-no-op 2';

/** Beside the state of the pipeline `pipelineName`. */
export function noOpRecordPath(projectFolder: string, pipelineName: string): string {
  return join(projectFolder, 'cache', 'state', `${pipelineName.replaceAll('/', '%')}.no-op`);
}

export function encodeNoOpRecord(record: NoOpRecord): string {
  const body = JSON.stringify(record);
  return `${HEAD} ${checksumOf(Buffer.from(body))}\n${body}`;
}

/** The no-op record at `path`; undefined if it is missing, damaged or of another version. */
export function readNoOpRecord(path: string): NoOpRecord | undefined {
  const text = readText(path);
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  if (end < 0 || text.slice(0, end) !== `${HEAD} ${checksumOf(Buffer.from(body))}`) return undefined;
  // The checksum shows that `encodeNoOpRecord` wrote it. A forged record can claim that nothing is out of date, and so can a forged state.
  const found = parseJson(body);
  return isJsonObject(found) ? (found as unknown as NoOpRecord) : undefined;
}

/** The text of a regular file; '' if it cannot be read. Reading a path as UTF-8 is one call of Node, and takes a tenth of the time of other ways. */
function readText(path: string): string {
  try {
    return statPath(path)?.kind === 'file' ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}
