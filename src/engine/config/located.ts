/** Parsed YAML values with their positions in the file. */
import { isJsonObject, type Json } from '../../base/json.js';
import type { SourceSpan } from '../model/source-span.js';

export type Located = LocatedScalar | LocatedList | LocatedMap;

export interface LocatedScalar {
  readonly kind: 'scalar';
  readonly value: null | boolean | number | string;
  readonly span: SourceSpan;
}

export interface LocatedList {
  readonly kind: 'list';
  readonly items: readonly Located[];
  readonly span: SourceSpan;
}

export interface LocatedMap {
  readonly kind: 'map';
  readonly members: ReadonlyMap<string, Member>;
  readonly span: SourceSpan;
}

export interface Member {
  readonly keySpan: SourceSpan;
  readonly value: Located;
}

export function toJson(located: Located): Json {
  switch (located.kind) {
    case 'scalar':
      return located.value;
    case 'list':
      return located.items.map(toJson);
    default:
      return Object.fromEntries([...located.members].map(([key, member]) => [key, toJson(member.value)]));
  }
}

/** A JSON value from another source. `span` is the position of the whole value and of every part. */
export function locateJson(value: Json, span: SourceSpan): Located {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(item => locateJson(item, span)), span };
  if (isJsonObject(value)) {
    const members = new Map(Object.entries(value).map(([key, member]) => [key, { keySpan: span, value: locateJson(member, span) }]));
    return { kind: 'map', members, span };
  }
  return { kind: 'scalar', value: value as LocatedScalar['value'], span };
}

export function findMember(located: Located | undefined, key: string): Located | undefined {
  return located?.kind === 'map' ? located.members.get(key)?.value : undefined;
}

/** Returns the members of a map. Returns an empty map for anything else, because the structure was checked before. */
export function membersOf(located: Located | undefined): ReadonlyMap<string, Member> {
  return located?.kind === 'map' ? located.members : new Map();
}

/** Returns the innermost value that a JSON pointer ("/stages/a/with/0") reaches, and the position of its key where the last step is a map key. */
export function locate(root: Located, pointer: string): { readonly value: Located; readonly keySpan: SourceSpan | undefined } {
  let value = root;
  let keySpan: SourceSpan | undefined;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (value.kind === 'map') {
      const member = value.members.get(key);
      if (member === undefined) break;
      [value, keySpan] = [member.value, member.keySpan];
    } else if (value.kind === 'list') {
      const item = value.items[Number(key)];
      if (item === undefined) break;
      [value, keySpan] = [item, undefined];
    } else break;
  }
  return { value, keySpan };
}
