/** How does a plugin read and write JSON artifacts? As indented text that people can read, with typed errors for what is no JSON. */
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Json } from '../base/json.js';
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

/** Keys keep the order that they have in `value`. The same value gives the same bytes. */
export async function writeJsonFile(path: string, value: Json): Promise<void> {
  await writeFile(path, `${JSON.stringify(value, undefined, 1)}\n`);
}
