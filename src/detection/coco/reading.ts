/** Reads members of COCO JSON. Errors name the place in the file. */
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';

/** For example "annotations[12]". */
export type Place = string;

export function readObject(value: Json | undefined, place: Place): JsonObject {
  if (!isJsonObject(value)) throw badField(place, 'an object', value);
  return value;
}

/** The list at `name`. @throws DetectionError `coco-field`. */
export function readList(object: JsonObject, name: string, place: Place): readonly Json[] {
  const value = member(object, name);
  if (!Array.isArray(value)) throw badField(`${place}.${name}`, 'a list', value);
  return value;
}

/** A finite number. @throws DetectionError `coco-field`. */
export function readNumber(object: JsonObject, name: string, place: Place): number {
  const value = member(object, name);
  if (typeof value !== 'number' || !Number.isFinite(value)) throw badField(`${place}.${name}`, 'a number', value);
  return value;
}

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
