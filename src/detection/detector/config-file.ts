/** Reads a detector config file: complete, or filled from a named set of defaults, with a list of the values that were filled. */

import { formatJsonProblems, type JsonProblem, type JsonReader, maybe, readJsonShape, text } from '../../base/json/json-shape.js';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';

/** A config and the source of its values. */
export interface ReadConfigFile<Config> {
  readonly config: Config;
  /** Dotted paths of the fields that the defaults supplied; empty where the file is complete. */
  readonly fromDefaults: readonly string[];
}

/** The file may have a field `architecture` as a note for readers. */
const architectureNote = maybe(text());

/**
 * @param value    the file's JSON; undefined where there is no file and all values come from `defaults`.
 * @param defaults values of missing fields; undefined: the file must be complete.
 * @param help     how to supply missing fields.
 * @throws DetectionError `bad-config` with every missing, unknown and wrong field.
 */
export function readConfigFile<Config>(
  value: Json | undefined,
  reader: JsonReader<Config>,
  defaults: JsonObject | undefined,
  help: string,
): ReadConfigFile<Config> {
  const problems: JsonProblem[] = [];
  const { architecture, ...written } = value !== undefined && isJsonObject(value) ? value : {};
  architectureNote(architecture, 'architecture', problems);
  const filled = defaults === undefined ? { value: written, taken: [] } : fillDefaults(written, defaults);
  const whole = value === undefined || isJsonObject(value) ? filled.value : value;
  const read = readJsonShape(reader, defaults === undefined && value === undefined ? undefined : whole);
  if (read.kind === 'problems') problems.push(...read.problems);
  if (read.kind === 'ok' && problems.length === 0) return { config: read.value, fromDefaults: filled.taken };
  throw badConfig(problems, help);
}

function badConfig(problems: readonly JsonProblem[], help: string): DetectionError {
  const lines = formatJsonProblems(problems);
  return new DetectionError('bad-config', `detector config: ${lines.length} problem${lines.length === 1 ? '' : 's'}: ${lines.join('; ')}`, {
    details: lines,
    help: `docs/detector-config.md lists every field; ${help}`,
  });
}

interface Filled {
  readonly value: JsonObject;
  /** Dotted paths of the filled fields, in the order of the defaults. */
  readonly taken: readonly string[];
}

/** Fills missing fields. Lists and `categories` are replaced as a whole. */
function fillDefaults(written: JsonObject, defaults: JsonObject): Filled {
  return fill(written, defaults, '');
}

function fill(written: JsonObject, defaults: JsonObject, path: string): Filled {
  const value: Record<string, JsonObject[string]> = { ...written };
  const taken: string[] = [];
  for (const [name, standard] of Object.entries(defaults)) {
    const at = path === '' ? name : `${path}.${name}`;
    const given = Object.hasOwn(written, name) ? written[name] : undefined;
    if (given === undefined) {
      value[name] = standard;
      taken.push(...(isSection(name, standard) ? Object.keys(standard).map(field => `${at}.${field}`) : [at]));
    } else if (isSection(name, standard) && isJsonObject(given)) {
      const inner = fill(given, standard, at);
      value[name] = inner.value;
      taken.push(...inner.taken);
    }
  }
  return { value, taken };
}

function isSection(name: string, value: JsonObject[string] | undefined): value is JsonObject {
  return name !== 'categories' && isJsonObject(value);
}
