/** Reads and writes JSON artifacts of plugins, as indented text, with typed errors. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { findNonFinite } from '../base/figure.js';
import { parsePythonJson } from '../base/json/python-json.js';
import type { Json, JsonObject } from '../base/json.js';
import { codeOrText } from '../base/system-error.js';
import { StageError } from './stage-error.js';

/** @throws StageError `json-unreadable` if the file cannot be read, `json-malformed` if it is not JSON. Both name the file without its folder. */
export function readJsonFile(path: string): Promise<Json> {
  return readWith(path, text => JSON.parse(text) as Json);
}

/** Reads JSON that a user's program wrote, with Python's NaN, Infinity and long integers. @throws as `readJsonFile`. */
export function readDataFile(path: string): Promise<Json> {
  return readWith(path, parsePythonJson);
}

async function readWith(path: string, parse: (text: string) => Json): Promise<Json> {
  const text = await readText(path);
  try {
    return parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StageError('json-malformed', `${basename(path)} is not JSON: ${reason}`, {
      cause: error,
      help: 'the file may be truncated or of another kind: connect the artifact that this input expects',
    });
  }
}

async function readText(path: string): Promise<string> {
  try {
    // Decoded at once: in pieces it takes several times as long.
    return (await readFile(path)).toString('utf8');
  } catch (error) {
    throw new StageError('json-unreadable', `${basename(path)} cannot be read: ${codeOrText(error)}`, { cause: error });
  }
}

/** Writes a metrics artifact. @throws StageError `metrics-malformed` if a figure is NaN or infinite, because JSON would hold null instead. */
export async function writeMetricsFile(path: string, metrics: JsonObject): Promise<void> {
  const broken = findNonFinite(metrics);
  if (broken !== undefined) {
    throw new StageError('metrics-malformed', `the figure "${broken}" is not a finite number`, {
      help: 'check its inputs: a model may have computed NaN, or a set may be empty',
    });
  }
  await writeJsonFile(path, metrics);
}

/** Keys keep their order in `value`. Equal values give equal bytes. */
export async function writeJsonFile(path: string, value: Json): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, undefined, 1)}\n`);
}
