/** Applies test/fixtures/artifact-bytes/renamed-fields.json, the map of renamed fields in reports, to a recorded report. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../src/base/json.js';
import { RECORD_FOLDER } from './artifact-record.js';

export interface RenamedField {
  /** Plugin whose reports have the field, or the command that prints it. */
  readonly of: string;
  readonly from: string;
  readonly to: string;
}

export function readRenamedFields(): readonly RenamedField[] {
  return JSON.parse(readFileSync(join(RECORD_FOLDER, 'renamed-fields.json'), 'utf8')) as readonly RenamedField[];
}

/** The report of a plugin with the present names of its fields. */
export function withPresentNames(report: Json, plugin: string, renamed: readonly RenamedField[]): Json {
  const names = new Map(renamed.filter(({ of }) => of === plugin).map(({ from, to }) => [from, to]));
  const rename = (json: Json): Json => {
    if (Array.isArray(json)) return json.map(rename);
    if (json === null || typeof json !== 'object') return json;
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [names.get(key) ?? key, rename(value)]));
  };
  return rename(report);
}

/** What `found` lacks of `recorded`, or has with another value, as paths. Fields that were added since do not count. */
export function differences(recorded: Json, found: Json | undefined, path = ''): readonly string[] {
  if (recorded === null || typeof recorded !== 'object') {
    return recorded === found ? [] : [`${path}: recorded ${JSON.stringify(recorded)}, found ${JSON.stringify(found)}`];
  }
  if (found === undefined || found === null || typeof found !== 'object' || Array.isArray(recorded) !== Array.isArray(found)) {
    return [`${path}: recorded ${JSON.stringify(recorded).slice(0, 80)}, found ${JSON.stringify(found)?.slice(0, 80)}`];
  }
  if (Array.isArray(recorded) && Array.isArray(found) && recorded.length !== found.length) {
    return [`${path}: recorded ${recorded.length} entries, found ${found.length}`];
  }
  const fields = new Map<string, Json>(Object.entries(found));
  return Object.entries(recorded).flatMap(([key, value]) => differences(value, fields.get(key), `${path}/${key}`));
}
