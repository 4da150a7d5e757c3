/**
 * A document format that diffs and merges well by lines.
 * It is a strict subset of YAML: one fact per line, two spaces per level, JSON for everything but plain words.
 */
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import type { Json, JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';

export type Outline = OutlineMap | OutlineValue;

export interface OutlineMap {
  readonly kind: 'map';
  readonly line: number;
  readonly members: ReadonlyMap<string, Outline>;
}

export interface OutlineValue {
  readonly kind: 'value';
  readonly line: number;
  /** A scalar, a list of values, or a value written as JSON. */
  readonly value: Json;
}

/** Reports an error in a line, counted from 1. */
export type FailAt = (line: number, message: string) => never;

/** Words that every version of YAML reads as the same string. */
const PLAIN = /^[A-Za-z_][\w.@+/-]*(?: [\w.@+/-]+)*$/;
const NOT_PLAIN = /^(?:true|false|null|yes|no|on|off|y|n|~)$/i;
/** A digest that cannot be read as a number. */
const PLAIN_DIGEST = /^(?=.*[abcdf])[0-9a-f]{64}$/;

/** Objects at deeper levels are written as JSON on one line. */
const MAX_DEPTH = 16;

/** The lines of an object, with members in their given order. Lists have one line per item. */
export function encodeOutline(members: JsonObject, depth = 0): string[] {
  const lead = '  '.repeat(depth);
  return Object.entries(members).flatMap(([name, value]) => {
    const key = `${lead}${encodeText(name)}:`;
    if (isJsonObject(value) && Object.keys(value).length > 0 && depth < MAX_DEPTH) return [key, ...encodeOutline(value, depth + 1)];
    if (Array.isArray(value) && value.length > 0) return [key, ...value.map((item: Json) => `${lead}  - ${encodeValue(item)}`)];
    return [`${key} ${encodeValue(value)}`];
  });
}

function encodeValue(value: Json): string {
  return typeof value === 'string' ? encodeText(value) : encodeCanonicalJson(value);
}

function encodeText(text: string): string {
  const isPlain = (PLAIN.test(text) && !NOT_PLAIN.test(text)) || PLAIN_DIGEST.test(text);
  return isPlain ? text : JSON.stringify(text);
}

interface OpenMap {
  readonly node: { readonly kind: 'map'; readonly line: number; readonly members: Map<string, Outline> };
  readonly indent: number;
}

/** A key that is alone on its line. Its value follows one level deeper. */
interface OpenKey {
  readonly name: string;
  readonly line: number;
  readonly indent: number;
  readonly parent: OpenMap;
  readonly items: Json[];
}

/** Parses the output of `encodeOutline`. Comments and empty lines are allowed anywhere. Anything else fails at its line. */
export function parseOutline(text: string, fail: FailAt): OutlineMap {
  const root: OpenMap = { node: { kind: 'map', line: 1, members: new Map() }, indent: 0 };
  const open: OpenMap[] = [root];
  let key: OpenKey | undefined;
  let number = 0;

  const closeKey = (): void => {
    if (key === undefined) return;
    if (key.items.length === 0) fail(key.line, `"${key.name}" has no value`);
    key.parent.node.members.set(key.name, { kind: 'value', line: key.line, value: key.items });
    key = undefined;
  };

  for (const raw of text.split('\n')) {
    number += 1;
    const content = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const body = content.trimStart();
    if (body === '' || body.startsWith('#')) continue;
    const indent = content.length - body.length;
    if (content.slice(0, indent) !== ' '.repeat(indent)) fail(number, 'expected indentation by spaces');
    if (body.startsWith('- ')) {
      if (key === undefined || indent !== key.indent + 2) fail(number, 'this item belongs to no list');
      else key.items.push(parseValue(body.slice(2), number, fail));
      continue;
    }
    if (key !== undefined && key.items.length === 0 && indent > key.indent) {
      if (indent !== key.indent + 2) fail(number, 'unexpected indentation');
      const node = { kind: 'map' as const, line: key.line, members: new Map<string, Outline>() };
      key.parent.node.members.set(key.name, node);
      open.push({ node, indent });
      if (open.length > MAX_DEPTH + 8) fail(number, 'too many levels');
      key = undefined;
    }
    closeKey();
    while ((open.at(-1) ?? root).indent > indent) open.pop();
    const parent = open.at(-1) ?? root;
    if (parent.indent !== indent) fail(number, 'unexpected indentation');
    const { name, rest } = splitKey(body, number, fail);
    if (parent.node.members.has(name)) fail(number, `duplicate "${name}"`);
    if (rest === undefined) key = { name, line: number, indent, parent, items: [] };
    else parent.node.members.set(name, { kind: 'value', line: number, value: parseValue(rest, number, fail) });
    // Reserves the name, so that no later line may repeat it.
    if (key !== undefined) parent.node.members.set(name, { kind: 'value', line: number, value: null });
  }
  closeKey();
  return root.node;
}

function splitKey(body: string, line: number, fail: FailAt): { readonly name: string; readonly rest: string | undefined } {
  const quoted = body.startsWith('"') ? (/^"(?:[^"\\]|\\.)*"/.exec(body)?.[0] ?? '') : undefined;
  const end = quoted === undefined ? body.indexOf(':') : quoted.length;
  const name = parseValue(body.slice(0, Math.max(0, end)), line, fail);
  const rest = body.slice(end);
  if (typeof name !== 'string' || !(rest === ':' || rest.startsWith(': '))) return fail(line, 'expected "name: value"');
  return { name, rest: rest === ':' ? undefined : rest.slice(2) };
}

function parseValue(text: string, line: number, fail: FailAt): Json {
  if ((PLAIN.test(text) && !NOT_PLAIN.test(text)) || PLAIN_DIGEST.test(text)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return fail(line, 'the value does not have the form that tanren writes');
  }
}

/** The plain value of an outline. */
export function toJson(outline: Outline): Json {
  if (outline.kind === 'value') return outline.value;
  return Object.fromEntries([...outline.members].map(([name, member]) => [name, toJson(member)]));
}

/** The line of the innermost existing member on a dotted path ("params.method"). Names may contain dots. */
export function findLine(outline: Outline, path: string): number {
  if (outline.kind === 'value' || path === '') return outline.line;
  for (const [name, member] of outline.members) {
    if (path === name) return member.line;
    if (path.startsWith(`${name}.`)) return findLine(member, path.slice(name.length + 1));
  }
  return outline.line;
}
