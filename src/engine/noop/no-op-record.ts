/**
 * The no-op record: the stamps of everything that a build read to find all stages up to date.
 * While all of them are unchanged, a later build reports immediately that nothing is out of date.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { isJsonObject, parseJson } from '../../base/json.js';
import type { GateResult } from '../model/gate-result.js';
import type { RecordedStamps } from '../store/files/recorded-stamps.js';

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

const HEAD = 'tanren-no-op 3\n';

/** Beside the state of the pipeline `pipelineName`. */
export function noOpRecordPath(projectFolder: string, pipelineName: string): string {
  return join(projectFolder, 'cache', 'state', `${pipelineName.replaceAll('/', '%')}.no-op`);
}

/**
 * The record stands there twice. Two equal copies show that no part of either is damaged. Of all checks this one takes the least time in a process that has
 * just started: a loop over bytes is interpreted, or makes the compiler start, and Node's checksums are in modules that take milliseconds to load.
 */
export function encodeNoOpRecord(record: NoOpRecord): string {
  const body = JSON.stringify(record);
  return `${HEAD}${body}\n${body}\n`;
}

/** The no-op record at `path`; undefined if it is missing, damaged or of another version. */
export function readNoOpRecord(path: string): NoOpRecord | undefined {
  const body = findBody(readText(path));
  // A forged record can claim that nothing is out of date, and so can a forged state.
  const found = body === undefined ? undefined : parseJson(body);
  return isJsonObject(found) ? (found as unknown as NoOpRecord) : undefined;
}

/** The line that stands in `text` twice after the head, and nothing else with it. */
function findBody(text: string): string | undefined {
  const middle = (HEAD.length + text.length) / 2;
  const body = text.slice(HEAD.length, middle);
  return text.startsWith(HEAD) && body.endsWith('\n') && body === text.slice(middle) ? body : undefined;
}

/** The text of a regular file; '' if it cannot be read. Reading a path as UTF-8 is one call of Node, and takes a tenth of the time of other ways. */
function readText(path: string): string {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}
