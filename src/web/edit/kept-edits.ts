/** The edits that can be undone, in a file that only its owner can read: a later server of the page undoes them too. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Digest, digestBytes } from '../../base/digest.js';
import { writePrivateFile } from '../../base/files/write-private.js';
import { readJsonShape } from '../../base/json/json-shape.js';
import { parseJson } from '../../base/json.js';
import { anyList, anyText, constant, object, text } from '../../base/schema/build-schema.js';
import { DIGEST_SCHEMA } from '../../base/schema/digest-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { hasCode, isMissing } from '../../base/system-error.js';
import { readRegularText } from '../../engine/store/files/read-regular.js';

/** An edit that was written. */
export interface DoneEdit {
  /** The whole file before. */
  readonly before: string;
  /** Of the file that it left. */
  readonly after: Digest;
  /** The place that it changed. */
  readonly what: string;
}

const KEPT = object({
  format: constant(1),
  edits: anyList(object({ before: anyText(), beforeDigest: DIGEST_SCHEMA, after: DIGEST_SCHEMA, what: text() }), 'Oldest first.'),
});

const readKept = readerOf(KEPT);

/** @returns none where there is no such file, or it is damaged: nothing can be undone then. */
export function readKeptEdits(path: string): readonly DoneEdit[] {
  const read = readJsonShape(readKept, parseJson(readIfThere(path)));
  if (read.kind === 'problems') return [];
  // Whatever is written into the pipeline file is what an edit replaced.
  const isWhole = read.value.edits.every(({ before, beforeDigest }) => digestBytes(before) === beforeDigest);
  return isWhole ? read.value.edits.map(({ before, after, what }) => ({ before, after, what })) : [];
}

function readIfThere(path: string): string {
  try {
    return readRegularText(path);
  } catch (error) {
    if (isMissing(error) || hasCode(error, 'EACCES')) return '';
    throw error;
  }
}

/** @throws file system errors. */
export function writeKeptEdits(path: string, edits: readonly DoneEdit[]): void {
  const kept: FromSchema<typeof KEPT> = { format: 1, edits: edits.map(edit => ({ ...edit, beforeDigest: digestBytes(edit.before) })) };
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writePrivateFile(path, `${JSON.stringify(kept)}\n`);
}
