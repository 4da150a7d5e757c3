/** Entries of record ports, in the order of the param `order`. */
import { isCodedError } from '../../src/base/coded-error.js';
import { formatJsonProblems, readJsonShape } from '../../src/base/json/json-shape.js';
import type { Json, JsonObject } from '../../src/base/json.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';
import { orderNames } from '../../src/report/views/report-data.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { StageError } from '../../src/stage/stage-error.js';

/** An artifact under the name of its entry. */
export interface Named<T> {
  readonly name: string;
  readonly value: T;
}

/**
 * Every entry of a record port, parsed; none where it is not connected. Those named in `order` come first, the others by name, as a record has no order
 * in the stage's key.
 * @throws what reading and `parse` throw, with port and entry before the message.
 */
export async function readEntries<T>(
  inputs: InputPaths,
  port: string,
  order: readonly string[],
  parse: (value: Json) => T,
): Promise<readonly Named<T>[]> {
  const paths = inputs[port];
  if (typeof paths !== 'object') return [];
  const entries: Named<T>[] = [];
  for (const name of orderNames(Object.keys(paths), order))
    entries.push({ name, value: await readEntry(`${port}.${name}`, paths[name] ?? '', parse) });
  return entries;
}

/** Every entry of a record port as it is in its file. @throws as `readEntries`. */
export function checkEntries(
  inputs: InputPaths,
  port: string,
  order: readonly string[],
  check: (value: Json) => void,
): Promise<readonly Named<Json>[]> {
  return readEntries(inputs, port, order, value => {
    check(value);
    return value;
  });
}

async function readEntry<T>(place: string, path: string, parse: (value: Json) => T): Promise<T> {
  try {
    return parse(await readJsonFile(path));
  } catch (error) {
    if (!isCodedError(error)) throw error;
    const { code, message, details, help, cause } = error;
    throw new StageError(code, `input "${place}": ${message}`, { details, cause, ...(help === undefined ? {} : { help }) });
  }
}

/** Problems shown of one file. */
const MOST = 8;

/** A parser of the documents that `schema` describes. @throws StageError `report-input` with what is not as it should be. */
export function parserOf<const Schema extends JsonObject>(schema: Schema, writer: string): (value: Json) => FromSchema<Schema> {
  const reader = readerOf(schema);
  return value => {
    const read = readJsonShape(reader, value);
    if (read.kind === 'ok') return read.value;
    const lines = formatJsonProblems(read.problems);
    const more = lines.length > MOST ? `; and ${lines.length - MOST} more` : '';
    throw new StageError('report-input', `this is no report of \`${writer}\`: ${lines.slice(0, MOST).join('; ')}${more}`, {
      details: lines.slice(0, 100),
      help: `connect what \`${writer}\` wrote, and build that stage again where it is of another version`,
    });
  };
}
