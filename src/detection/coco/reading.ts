/** Reads members of COCO JSON. Errors name the place in the file. */
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';

/** For example "annotations[12]". */
export type Place = string;

export function readObject(value: Json | undefined, place: Place): JsonObject {
  if (!isJsonObject(value)) throw badField(place, 'an object', value);
  return value;
}

/** The list at `name`. Empty text and an empty object are empty lists, as for Python's loops. @throws DetectionError `coco-field`. */
export function readList(object: JsonObject, name: string, place: Place): readonly Json[] {
  const value = member(object, name);
  if (value === '' || (isJsonObject(value) && Object.keys(value).length === 0)) return [];
  if (!Array.isArray(value)) throw badField(`${place}.${name}`, 'a list', value);
  return value;
}

/** A finite number. @throws DetectionError `coco-field`. */
export function readNumber(object: JsonObject, name: string, place: Place): number {
  const value = member(object, name);
  if (typeof value !== 'number' || !Number.isFinite(value)) throw badField(`${place}.${name}`, 'a number', value);
  return value;
}

/** The number that Python takes a value for: true is 1, and an integer beyond 2⁵³ is the text of its digits. Undefined for others. */
export function asNumber(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' && LARGE_INTEGER.test(value) ? Number(value) : undefined;
}

/** The numbers of a list; undefined where it is no list, or one of them is no number. */
export function asNumbers(value: Json | undefined): readonly number[] | undefined {
  if (!isJsonList(value)) return undefined;
  if (value.every(one => typeof one === 'number')) return value as readonly number[];
  const numbers = value.map(asNumber);
  return numbers.every(one => one !== undefined) ? numbers : undefined;
}

/** A list as an array of numpy holds it: null is NaN, and text of a decimal number is that number. Anything else is left as it is. */
export function asArrayValues(value: Json | undefined): Json | undefined {
  if (!isJsonList(value) || value.every(one => typeof one === 'number')) return value;
  return value.map(one => (one === null ? Number.NaN : typeof one === 'string' && DECIMAL.test(one) ? Number(one) : one));
}

const DECIMAL = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/** An integer that a number cannot hold exactly, as text. */
export const LARGE_INTEGER = /^-?\d{16,}$/;

/** A safe integer of at least `min`. @throws DetectionError `coco-field`. */
export function readInteger(object: JsonObject, name: string, place: Place, min = 0): number {
  const value = member(object, name);
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min)
    throw badField(`${place}.${name}`, `an integer of at least ${min}`, value);
  return value;
}

export function readText(object: JsonObject, name: string, place: Place): string {
  const value = member(object, name);
  if (typeof value !== 'string') throw badField(`${place}.${name}`, 'text', value);
  return value;
}

/** The member, or undefined where it is missing. */
export function member(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function badField(place: Place, expected: string, value: Json | undefined): DetectionError {
  const found = value === undefined ? 'it is missing' : `it is ${describeJson(value)}`;
  return new DetectionError('coco-field', `${place} should be ${expected}, ${found}`, { details: { place } });
}

/** A value for messages. Only the first level is inspected, because nesting can exceed the stack. */
export function describeJson(value: Json): string {
  if (isJsonObject(value)) return 'an object';
  if (!isJsonList(value)) return shorten(JSON.stringify(value));
  const isPlain = value.length <= MOST_SHOWN && value.every(member => member === null || typeof member !== 'object');
  return isPlain ? shorten(JSON.stringify(value)) : `a list of ${value.length}`;
}

const MOST_SHOWN = 8;

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
