/** Places in the document of a pipeline file: those that belong to one value alone, and why others are not changed. */
import { type Document, isAlias, isMap, isScalar, type Node, type YAMLMap } from 'yaml';
import { isJsonObject, type Json } from '../../base/json.js';
import { refuse } from './edit-error.js';
import type { TextChange } from './insert-yaml.js';

/** A change, before it is checked. */
export interface Planned {
  /** Of different places. */
  readonly changes: readonly TextChange[];
  readonly path: readonly string[];
  /** The file's content after the edit, as plain data. */
  readonly expected: Json;
}

/** @throws RequestError `ui-edit-place` where a map on the path is absent, an alias, or used elsewhere. */
export function getMap(document: Document, root: YAMLMap, path: readonly string[]): YAMLMap {
  let map: YAMLMap = root;
  for (const [depth, key] of path.entries()) {
    const next = map.get(key, true) as Node | undefined;
    if (!isMap(next))
      throw next === undefined
        ? refuse('ui-edit-place', `the file has no ${path.slice(0, depth + 1).join('.')}`)
        : shared(path.slice(0, depth + 1), next);
    if (next.anchor !== undefined && isUsed(document, next.anchor)) throw shared(path.slice(0, depth + 1), next);
    map = next;
  }
  return map;
}

function isUsed(document: Document, anchor: string): boolean {
  return new RegExp(`\\*${anchor.replaceAll(/[^\w-]/g, '\\$&')}(?![\\w-])`).test(document.toString());
}

/** Why the value at `path` is not changed. */
export function shared(path: readonly string[], node?: unknown): Error {
  const name = path.join('.');
  const why = isAlias(node)
    ? `is an alias of "${node.source}", which other places share`
    : isScalar(node) && /\$\{/.test(String(node.value))
      ? `is the reference ${String(node.value)}`
      : 'is shared, or not written out here';
  return refuse('ui-edit-place', `${name} ${why}`, 'edit the file: the page changes only values that belong to one place');
}

/** The file's content as plain data. */
export function dataOf(document: Document): Json {
  return document.toJS({ maxAliasCount: 10_000 }) as Json;
}

export function valueAt(data: Json, [key, ...rest]: readonly string[]): Json | undefined {
  if (key === undefined) return data;
  return isJsonObject(data) && Object.hasOwn(data, key) ? valueAt(data[key] as Json, rest) : undefined;
}

/** A copy of `data` with another value at the path. */
export function withValue(data: Json, [key, ...rest]: readonly string[], value: Json): Json {
  if (key === undefined) return value;
  const map = isJsonObject(data) ? data : {};
  return { ...map, [key]: withValue(Object.hasOwn(map, key) ? (map[key] as Json) : {}, rest, value) };
}
