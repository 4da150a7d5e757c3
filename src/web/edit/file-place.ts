/** Places in the document of a pipeline file: those that belong to one value alone, and why others are not changed. */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isJsonObject, type Json } from '../../base/json.js';
import { refuse } from './edit-error.js';
import type { EditedStage } from './edit-schema.js';
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
    map = own(document, next, path.slice(0, depth + 1));
  }
  return map;
}

/** The settings of a stage; undefined where it has none. @throws RequestError `ui-edit-place` where other places share them, or they merge a map. */
export function getSettings(document: Document, stage: YAMLMap, path: readonly string[]): YAMLMap | undefined {
  const settings = stage.get('with', true) as Node | undefined;
  if (settings === undefined) return undefined;
  if (!isMap(settings)) throw shared(path, settings);
  if (settings.items.some(({ key }) => isScalar(key) && (typeof key.value === 'symbol' || key.value === '<<')))
    throw refuse('ui-edit-place', `${path.join('.')} merges another map`, 'edit the file');
  return own(document, settings, path);
}

/** A list with the path to it. */
export interface PlacedList {
  readonly list: YAMLSeq;
  readonly path: readonly string[];
}

/**
 * The list that a setting is: written out, or `${item.…}`, which is a list of one `foreach` item.
 * @throws RequestError `ui-edit-place` where it is neither, or other places share it.
 */
export function getList(document: Document, root: YAMLMap, node: Node, place: EditedStage, path: readonly string[]): PlacedList {
  if (isSeq(node)) return { list: own(document, node, path), path };
  const inner = innerPath(node);
  if (inner === undefined || place.item === undefined) throw shared(path, node);
  const whole = ['stages', place.group, 'foreach', place.item, ...inner];
  const depth = whole.indexOf('foreach') + 1;
  let next: Node | undefined = getMap(document, root, whole.slice(0, depth));
  for (const [index, key] of whole.slice(depth).entries()) {
    if (!isMap(next)) throw shared(whole.slice(0, depth + index), next);
    next = own(document, next, whole.slice(0, depth + index)).get(key, true) as Node | undefined;
  }
  if (!isSeq(next)) throw shared(whole, next);
  return { list: own(document, next, whole), path: whole };
}

/** "${item.rules}" → ["rules"]; undefined for another text. */
function innerPath(node: Node): readonly string[] | undefined {
  const found = isScalar(node) && typeof node.value === 'string' ? /^\$\{item(?:\.([\w.-]+))?\}$/.exec(node.value) : null;
  return found === null ? undefined : (found[1]?.split('.') ?? []);
}

/** The collection, if no other place of the file shares it. @throws RequestError `ui-edit-place`. */
function own<Collection extends YAMLMap | YAMLSeq>(document: Document, collection: Collection, path: readonly string[]): Collection {
  if (isShared(document, collection)) throw shared(path, collection);
  return collection;
}

/** Whether an alias of the file names the anchor of the node. A comment or a text such as "*bn" is no alias. */
export function isShared(document: Document, { anchor }: Pick<Scalar, 'anchor'>): boolean {
  if (anchor === undefined) return false;
  let isUsed = false;
  visit(document, {
    Alias(_, { source }) {
      isUsed ||= source === anchor;
      return isUsed ? visit.BREAK : undefined;
    },
  });
  return isUsed;
}

/** Why the value at `path` is not changed. */
export function shared(path: readonly string[], node?: unknown): Error {
  const name = path.join('.');
  const why = isAlias(node)
    ? `is an alias of "${node.source}", which other places share`
    : (isCollection(node) || isScalar(node)) && node.anchor !== undefined
      ? `has the anchor "${node.anchor}", which other places share`
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
