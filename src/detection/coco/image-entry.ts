/** Parsing of ids and file names in the `images` of COCO files. */
import type { JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';
import { type Place, readInteger, readText } from './reading.js';

/** @throws DetectionError `coco-field`. */
export function parseImageId(object: JsonObject, place: Place): number {
  return readInteger(object, 'id', place);
}

/** A path that stays inside the image folder on all systems. @throws DetectionError `coco-field`, `coco-file-name`. */
export function parseFileName(object: JsonObject, place: Place): string {
  const name = readText(object, 'file_name', place);
  const parts = name.split(/[\\/]/);
  if (name === '' || parts[0] === '' || parts.includes('..') || /^[A-Za-z]:/.test(name) || name.includes('\0'))
    throw new DetectionError('coco-file-name', `${place}.file_name ${JSON.stringify(name)} is outside of the image folder`);
  return name;
}

/** Maps ids to members. @throws DetectionError `coco-duplicate-id`. */
export function indexById<T extends { readonly id: number }>(members: readonly T[], what: string): ReadonlyMap<number, T> {
  const byId = new Map<number, T>();
  for (const one of members) {
    if (byId.has(one.id)) throw new DetectionError('coco-duplicate-id', `${what} id ${one.id} occurs twice`, { details: { id: one.id } });
    byId.set(one.id, one);
  }
  return byId;
}
