/** Parsing of file names in the `images` of COCO files. */
import type { JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';
import { type Place, readText } from './reading.js';

/** A path that stays inside the image folder on all systems. @throws DetectionError `coco-field`, `coco-file-name`. */
export function parseFileName(object: JsonObject, place: Place): string {
  const name = readText(object, 'file_name', place);
  const parts = name.split(/[\\/]/);
  if (name === '' || parts[0] === '' || parts.includes('..') || /^[A-Za-z]:/.test(name) || name.includes('\0'))
    throw new DetectionError('coco-file-name', `${place}.file_name ${JSON.stringify(name)} is outside of the image folder`);
  return name;
}
