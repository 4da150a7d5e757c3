/** JSON documents that must be what their schema describes. */
import { readJsonShape } from '../../src/base/json/json-shape.js';
import type { Json, JsonObject } from '../../src/base/json.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';

/** The document. Expects that the schema accepts it, and that it has no field that the schema does not list: readers drop those. */
export function parseDocument<const Schema extends JsonObject>(schema: Schema, document: Json): FromSchema<Schema> {
  const read = readJsonShape(readerOf(schema), document);
  expect(read).toEqual({ kind: 'ok', value: document });
  if (read.kind !== 'ok') throw new Error('unreachable');
  return read.value;
}
