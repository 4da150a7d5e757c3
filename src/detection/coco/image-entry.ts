/** Parsing of file names in the `images` of COCO files. */
import type { JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';
import type { NoteOddity } from './oddities.js';
import { member, type Place, readText } from './reading.js';

/** As `parseFileName`; undefined where that throws, for figures that need no image. */
export function findFileName(object: JsonObject, place: Place, note: NoteOddity): string | undefined {
  if (member(object, 'file_name') === undefined) return undefined;
  try {
    return parseFileName(object, place);
  } catch (problem) {
    if (!(problem instanceof DetectionError)) throw problem;
    note('file-name-unusable', problem.message);
    return undefined;
  }
}

/** A path that stays inside the image folder on all systems. @throws DetectionError `coco-field`, `coco-file-name`. */
export function parseFileName(object: JsonObject, place: Place): string {
  const name = readText(object, 'file_name', place);
  const parts = name.split(/[\\/]/);
  if (name === '' || parts[0] === '' || parts.includes('..') || /^[A-Za-z]:/.test(name) || name.includes('\0'))
    throw new DetectionError('coco-file-name', `${place}.file_name ${JSON.stringify(name)} is outside of the image folder`);
  return name;
}
