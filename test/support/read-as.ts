/** Files that stages wrote, read by the schema of their contract. */
import { readFile } from 'node:fs/promises';
import { readJsonShape } from '../../src/base/json/json-shape.js';
import type { Json, JsonObject } from '../../src/base/json.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';

/** Fails with all problems unless the file is as `schema` says, without members that it does not name. */
export async function readAs<const Schema extends JsonObject>(schema: Schema, path: string | undefined): Promise<FromSchema<Schema>> {
  const json = JSON.parse(await readFile(path ?? '', 'utf8')) as Json;
  const read = readJsonShape(readerOf(schema), json);
  expect(read).toEqual({ kind: 'ok', value: json });
  if (read.kind === 'problems') throw new Error('the expectation above fails first');
  return read.value;
}
