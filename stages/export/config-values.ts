/** Config values that a named set of defaults supplied: a warning in the log, and the source of every value for the report. */
import type { Json, JsonObject } from '../../src/base/json.js';
import { isJsonObject } from '../../src/base/json.js';
import type { ConfiguredExport } from '../../src/detection/detector/exported-family.js';
import type { Context } from '../../src/stage/context.js';

type ReadConfig = Pick<ConfiguredExport, 'read' | 'defaultsSource'>;

export function warnOfDefaults({ read, defaultsSource }: ReadConfig, context: Pick<Context, 'log'>): void {
  const { config, fromDefaults } = read;
  if (fromDefaults.length === 0) return;
  const values = new Map(flatten(config as JsonObject, ''));
  const shown = fromDefaults.map(field =>
    field === 'categories' ? "categories (COCO's 80)" : `${field} = ${JSON.stringify(values.get(field))}`,
  );
  context.log('warning', `${fromDefaults.length} config values are ${defaultsSource.possessive} defaults: ${shown.join(', ')}`);
}

/** Every field with its value and its source. */
export function listConfigSources({ read, defaultsSource }: ReadConfig): Json[] {
  const fromDefaults = new Set(read.fromDefaults);
  return flatten(read.config as JsonObject, '').map(([field, value]) => ({
    field,
    value,
    from: fromDefaults.has(field) ? defaultsSource.name : 'config',
  }));
}

/** Sections become their fields. Lists and `categories` stay whole. */
function flatten(section: JsonObject, path: string): [string, Json][] {
  return Object.entries(section).flatMap(([name, value]): [string, Json][] => {
    const at = path === '' ? name : `${path}.${name}`;
    return isJsonObject(value) && name !== 'categories' ? flatten(value, at) : [[at, value]];
  });
}
