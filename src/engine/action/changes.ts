/** Differences between two action manifests, and their descriptions for users. */

import { findOwn } from '../../base/find-own.js';
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import type { Json, JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';

/** One difference of two manifests. `label` is its place ("params.percentile", "inputs.model"). A side is undefined if the value is absent there. */
export interface Change {
  readonly label: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** Returns every leaf that differs, in the order of the labels. Lists and artifacts (`{kind, digest}`) are compared as wholes. */
export function findChanges(before: JsonObject, after: JsonObject): readonly Change[] {
  return compareObjects(before, after, '');
}

function compareObjects(before: JsonObject, after: JsonObject, prefix: string): readonly Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap(name => compareValues(findOwn(before, name), findOwn(after, name), prefix + name));
}

function compareValues(before: Json | undefined, after: Json | undefined, label: string): readonly Change[] {
  if (isJsonObject(before) && isJsonObject(after) && !isArtifact(before) && !isArtifact(after)) {
    return compareObjects(before, after, `${label}.`);
  }
  if (before !== undefined && after !== undefined && encodeCanonicalJson(before) === encodeCanonicalJson(after)) return [];
  return before === undefined && after === undefined ? [] : [{ label, before, after }];
}

function isArtifact(value: JsonObject): boolean {
  return typeof value.digest === 'string' && typeof value.kind === 'string';
}

/** Returns one sentence for a change: `params.percentile: 99.9 → 99.99`. A changed digest is described as "changed", without its value. */
export function describeChange({ label, before, after }: Change): string {
  const what = nameOf(label);
  if (before === undefined) return `${what} was added${isReadable(after) ? `: ${shorten(after)}` : ''}`;
  if (after === undefined) return `${what} was removed${isReadable(before) ? ` (was ${shorten(before)})` : ''}`;
  if (!isReadable(before) || !isReadable(after)) return `${what} changed`;
  const [from, to] = writeSides(before, after);
  return `${what}: ${from} → ${to}`;
}

/** Returns both sides as JSON, cut to the place where they differ. */
export function writeSides(before: Json, after: Json): readonly [string, string] {
  const [from, to] = [JSON.stringify(before), JSON.stringify(after)];
  const start = Math.max(0, lengthOfCommonStart(from, to) - LEAD);
  return [cut(from, start), cut(to, start)];
}

const WORDS: Readonly<Record<string, string>> = {
  code: "the plugin's code",
  plugin: 'the plugin',
  version: "the plugin's version",
  platformClass: 'the platform class',
  host: 'the host',
};

function nameOf(label: string): string {
  const before = /^build\.(.+)$/.exec(label)?.[1];
  return findOwn(WORDS, label) ?? (before === undefined ? label : `the state of ${before}`);
}

function isReadable(value: Json | undefined): value is Json {
  if (value === undefined) return false;
  if (typeof value === 'string') return !/^[0-9a-f]{64}$/.test(value);
  return !(isJsonObject(value) && isArtifact(value));
}

const LONGEST = 60;

/** Number of equal characters shown before the difference. */
const LEAD = 20;

function shorten(value: Json): string {
  return cut(JSON.stringify(value), 0);
}

/** Returns at most LONGEST characters of the text, beginning at `start`. */
function cut(text: string, start: number): string {
  if (text.length <= LONGEST) return text;
  const piece = text.slice(start, start + LONGEST);
  return `${start > 0 ? '…' : ''}${piece}${start + LONGEST < text.length ? '…' : ''}`;
}

function lengthOfCommonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}
