/**
 * Why may a build say at once that there is nothing to do? Because an earlier one sealed its state: everything that was looked at to find that all stages are
 * up to date, with what was seen. As long as all of it looks the same, the answer is the same.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import type { JsonObject } from '../../base/json.js';
import type { GateResult } from '../model/gate-result.js';
import { plainCrc32 } from '../store/files/crc32.js';
import type { Sights } from '../store/files/sights.js';

export interface Seal {
  /** What was asked for, as the asker writes it. */
  readonly request: string;
  /** Programs by the name that stages call them, and where they were found. */
  readonly programs: readonly (readonly [string, string])[];
  /** Declared variables by name: the digest of the value, or null where it was not set. */
  readonly environment: readonly (readonly [string, Digest | null])[];
  /** Guard of the platform class; null where no model is run. */
  readonly platform: string | null;
  /** Null where nothing was measured. */
  readonly host: string | null;
  readonly sights: Sights;
  readonly report: SettledReport;
}

/** What a build says that finds nothing to do. */
export interface SettledReport {
  readonly pipeline: string;
  /** How many are up to date. */
  readonly stages: number;
  /** Of the stages that have any, in the plan's order. */
  readonly metrics: readonly SettledMetrics[];
  /** All of them met. */
  readonly gates: readonly GateResult[];
}

export interface SettledMetrics {
  readonly stage: string;
  readonly plugin: string;
  readonly metrics: JsonObject;
}

const HEAD = 'tanren-seal 1';
const LINE_END = 0x0a;

/** Beside the state of the pipeline that `pipelineName` names. */
export function sealPath(projectFolder: string, pipelineName: string): string {
  return join(projectFolder, 'cache', 'state', `${pipelineName.replaceAll('/', '%')}.seal`);
}

export function encodeSeal(seal: Seal): string {
  const body = JSON.stringify(seal);
  return `${HEAD} ${checksum(Buffer.from(body))}\n${body}`;
}

/** The seal at `path`; undefined where there is none, or it is damaged or of another version. */
export function readSeal(path: string): Seal | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return undefined;
  }
  const end = bytes.indexOf(LINE_END);
  const body = bytes.subarray(end + 1);
  if (end < 0 || bytes.toString('latin1', 0, end) !== `${HEAD} ${checksum(body)}`) return undefined;
  // The checksum says that `encodeSeal` wrote it. A forged one can say that all is well, as a forged state can.
  return JSON.parse(body.toString()) as Seal;
}

function checksum(body: Uint8Array): string {
  return plainCrc32(body).toString(16).padStart(8, '0');
}
