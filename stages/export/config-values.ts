/** Which config values did nobody write down? Those of a named set of defaults: worth a warning, and told one by one in the report. */
import type { Json, JsonObject } from '../../src/base/json.js';
import { isJsonObject } from '../../src/base/json.js';
import type { ReadConfigFile } from '../../src/detection/detector/config-file.js';
import type { Context } from '../../src/stage/context.js';

/** Whose the defaults are: in the report, and in the warning as a possessive. */
export interface DefaultsOwner {
  readonly name: string;
  readonly possessive: string;
}

export function sayDefaults<C extends object>({ config, fromDefaults }: ReadConfigFile<C>, owner: DefaultsOwner, context: Context): void {
  if (fromDefaults.length === 0) return;
  const values = new Map(flatten(config as unknown as JsonObject, ''));
  const shown = fromDefaults.map(field =>
    field === 'categories' ? "categories (COCO's 80)" : `${field} = ${JSON.stringify(values.get(field))}`,
  );
  context.log('warning', `${fromDefaults.length} config values are ${owner.possessive} defaults: ${shown.join(', ')}`);
}

/** Every field with its value, and where it came from. */
export function configSources<C extends object>({ config, fromDefaults }: ReadConfigFile<C>, owner: DefaultsOwner): Json[] {
  const taken = new Set(fromDefaults);
  return flatten(config as unknown as JsonObject, '').map(([field, value]) => ({
    field,
    value,
    from: taken.has(field) ? owner.name : 'config',
  }));
}

/** Sections by their fields; lists and categories as they are. */
function flatten(section: JsonObject, path: string): [string, Json][] {
  return Object.entries(section).flatMap(([name, value]): [string, Json][] => {
    const at = path === '' ? name : `${path}.${name}`;
    return isJsonObject(value) && name !== 'categories' ? flatten(value, at) : [[at, value]];
  });
}
