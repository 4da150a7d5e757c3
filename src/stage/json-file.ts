/** How does a plugin read and write JSON artifacts? As indented text that people can read, with typed errors for what is no JSON. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { findNonFinite } from '../base/figure.js';
import type { Json, JsonObject } from '../base/json.js';
import { StageError } from './stage-error.js';

/** @throws StageError `json-unreadable` where there is no such file, `json-malformed` where it is no JSON; both name the file without its folder. */
export async function readJsonFile(path: string): Promise<Json> {
  const text = await readText(path);
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StageError('json-malformed', `${basename(path)} is not JSON: ${reason}`, {
      cause: error,
      help: 'the file may be cut off, or be of another kind: connect the artifact that this input is for',
    });
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new StageError('json-unreadable', `${basename(path)} cannot be read: ${reason}`, { cause: error });
  }
}

/** A metrics artifact. @throws StageError `metrics-malformed` where a figure is NaN or infinite: JSON would hold null in its place. */
export async function writeMetricsFile(path: string, metrics: JsonObject): Promise<void> {
  const broken = findNonFinite(metrics);
  if (broken !== undefined) {
    throw new StageError('metrics-malformed', `the figure "${broken}" is no finite number`, {
      help: 'look at what it was computed from: a model may have given NaN, or a set may be empty',
    });
  }
  await writeJsonFile(path, metrics);
}

/** Keys keep the order that they have in `value`. The same value gives the same bytes. */
export async function writeJsonFile(path: string, value: Json): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, undefined, 1)}\n`);
}
