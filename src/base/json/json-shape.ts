/** Small composable readers that turn untrusted JSON into typed values and report all problems at once. */

import type { Json } from '../json.js';
import { isJsonObject } from '../json.js';
import { findClosest } from '../text/did-you-mean.js';

export interface JsonProblem {
  /** Dotted path from the root, for example "rpn.nmsThreshold" or "anchors.sizes[2]"; '' is the root. */
  readonly path: string;
  readonly message: string;
}

/** Reads one value. If it is invalid, the reader adds to `problems`, and its result must not be used. */
export type JsonReader<T> = (value: Json | undefined, path: string, problems: JsonProblem[]) => T | undefined;

type ReaderOf<Fields> = { readonly [Name in keyof Fields]-?: JsonReader<Fields[Name]> };

export type JsonResult<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'problems'; readonly problems: readonly JsonProblem[] };

/** Reads the whole `value`: the typed value, or all problems. */
export function readJsonShape<T>(reader: JsonReader<T>, value: Json | undefined): JsonResult<T> {
  const problems: JsonProblem[] = [];
  const read = reader(value, '', problems);
  return problems.length > 0 || read === undefined ? { kind: 'problems', problems } : { kind: 'ok', value: read };
}

/** An object with exactly these fields; missing and unknown ones are problems, unless the field's reader is `maybe(…)`. */
export function fields<T extends object>(readers: ReaderOf<T>): JsonReader<T> {
  const known = someFields(readers);
  const names = new Set(Object.keys(readers));
  return (value, path, problems) => {
    if (isJsonObject(value))
      for (const name of Object.keys(value)) if (!names.has(name)) fail(problems, join(path, name), unknownField(name, names));
    return known(value, path, problems);
  };
}

/** An object with at least these fields; unknown ones are dropped. For data to which other versions may add fields. */
export function someFields<T extends object>(readers: ReaderOf<T>): JsonReader<T> {
  const entries = Object.entries(readers) as [string, JsonReader<unknown>][];
  return (value, path, problems) => {
    if (!isJsonObject(value)) return fail(problems, path, `should be an object, ${describeFound(value)}`);
    const read: Record<string, unknown> = {};
    for (const [name, reader] of entries) {
      const member = reader(own(value, name), join(path, name), problems);
      if (member !== undefined) read[name] = member;
    }
    return read as T;
  };
}

/** An object with user-chosen names; `checkName` returns the reason why a name is not allowed. */
export function record<T>(member: JsonReader<T>, checkName: (name: string) => string | undefined): JsonReader<Readonly<Record<string, T>>> {
  return (value, path, problems) => {
    if (!isJsonObject(value)) return fail(problems, path, `should be an object, ${describeFound(value)}`);
    const read: [string, T | undefined][] = [];
    for (const [name, entry] of Object.entries(value)) {
      const reason = checkName(name);
      if (reason !== undefined) fail(problems, join(path, name), reason);
      read.push([name, member(entry, join(path, name), problems)]);
    }
    return Object.fromEntries(read) as Record<string, T>;
  };
}

/** A list; `length` fixes its length, otherwise it has at least one entry. */
export function list<T>(member: JsonReader<T>, options: { length?: number } = {}): JsonReader<readonly T[]> {
  return (value, path, problems) => {
    if (!Array.isArray(value)) return fail(problems, path, `should be a list, ${describeFound(value)}`);
    if (options.length !== undefined && value.length !== options.length)
      return fail(problems, path, `should have ${options.length} entries, it has ${value.length}`);
    if (value.length === 0) return fail(problems, path, 'should not be empty');
    return value.map((entry: Json, index) => member(entry, `${path}[${index}]`, problems)) as T[];
  };
}

/** A list that may be empty. */
export function anyList<T>(member: JsonReader<T>): JsonReader<readonly T[]> {
  const filled = list(member);
  return (value, path, problems) => (Array.isArray(value) && value.length === 0 ? [] : filled(value, path, problems));
}

/** A finite number within `min` and `max`, both inclusive; `above` is an exclusive lower bound. */
export function number(options: { min?: number; max?: number; above?: number } = {}): JsonReader<number> {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, above = Number.NEGATIVE_INFINITY } = options;
  return (value, path, problems) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return fail(problems, path, `should be a number, ${describeFound(value)}`);
    if (value < min) return fail(problems, path, `should be at least ${min}, it is ${value}`);
    if (value > max) return fail(problems, path, `should be at most ${max}, it is ${value}`);
    if (value <= above) return fail(problems, path, `should be more than ${above}, it is ${value}`);
    return value;
  };
}

/** A safe integer of at least `min`. */
export function integer(min: number): JsonReader<number> {
  return (value, path, problems) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value))
      return fail(problems, path, `should be an integer, ${describeFound(value)}`);
    return value < min ? fail(problems, path, `should be at least ${min}, it is ${value}`) : value;
  };
}

/** true or false. */
export function flag(): JsonReader<boolean> {
  return (value, path, problems) =>
    typeof value === 'boolean' ? value : fail(problems, path, `should be true or false, ${describeFound(value)}`);
}

/** A string that may be empty. */
export function anyText(): JsonReader<string> {
  return (value, path, problems) => (typeof value === 'string' ? value : fail(problems, path, `should be text, ${describeFound(value)}`));
}

/** A string that is not empty. */
export function text(): JsonReader<string> {
  return (value, path, problems) => {
    if (typeof value !== 'string') return fail(problems, path, `should be text, ${describeFound(value)}`);
    return value === '' ? fail(problems, path, 'should not be empty') : value;
  };
}

/** One of a few literal values. */
export function literal<const T extends string | number | boolean>(...allowed: readonly T[]): JsonReader<T> {
  return (value, path, problems) => {
    const found = allowed.find(one => one === value);
    return found ?? fail(problems, path, `should be ${allowed.map(one => JSON.stringify(one)).join(' or ')}, ${describeFound(value)}`);
  };
}

/** A field that may be missing. */
export function maybe<T>(reader: JsonReader<T>): JsonReader<T> {
  return (value, path, problems) => (value === undefined ? undefined : reader(value, path, problems));
}

/** "rpn.nmsThreshold: should be a number, it is missing" per problem. */
export function formatJsonProblems(problems: readonly JsonProblem[]): string[] {
  return problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
}

function fail(problems: JsonProblem[], path: string, message: string): undefined {
  problems.push({ path, message });
  return undefined;
}

function unknownField(name: string, known: ReadonlySet<string>): string {
  const closest = findClosest(name, known);
  return closest === undefined ? 'is not a known field' : `is not a known field; did you mean "${closest}"?`;
}

function own(value: { readonly [key: string]: Json }, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** "it is missing", "it is a list", "it is 3": the end of a message about a value. */
export function describeFound(value: Json | undefined): string {
  if (value === undefined) return 'it is missing';
  if (value === null) return 'it is null';
  if (Array.isArray(value)) return 'it is a list';
  if (typeof value === 'object') return 'it is an object';
  const shown = JSON.stringify(value);
  return `it is ${shown.length > 60 ? `${shown.slice(0, 57)}…` : shown}`;
}
