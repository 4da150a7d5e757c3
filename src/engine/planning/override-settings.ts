/** Settings of stages that a caller sets in place of the pipeline file: values under `with`, by path. */
import type { Json } from '../../base/json.js';
import { type Located, locateJson, type Member } from '../config/located.js';
import type { SourceSpan } from '../model/source-span.js';

export interface SettingOverride {
  /** The id of a stage, or the name of a group: all its instances. */
  readonly target: string;
  /** The keys under `with`, outermost first. */
  readonly path: readonly string[];
  /** Taken as it is: references in it are not replaced. */
  readonly value: Json;
}

/** Returns `settings` with the overrides of this stage applied in order. A value on the way that is no map is replaced by one. */
export function overrideSettings(
  settings: Located,
  { id, group }: { readonly id: string; readonly group: string },
  overrides: readonly SettingOverride[],
): Located {
  return overrides
    .filter(({ target }) => target === id || target === group)
    .reduce((changed, { path, value }) => withValue(changed, path, value, settings.span), settings);
}

function withValue(located: Located | undefined, path: readonly string[], value: Json, span: SourceSpan): Located {
  const [key, ...rest] = path;
  if (key === undefined) return locateJson(value, span);
  const members: ReadonlyMap<string, Member> = located?.kind === 'map' ? located.members : new Map();
  const inner = withValue(members.get(key)?.value, rest, value, span);
  return { kind: 'map', members: new Map([...members, [key, { keySpan: span, value: inner }]]), span: located?.span ?? span };
}
