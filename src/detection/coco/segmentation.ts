/** Parser of COCO segmentations: polygons, plain run lengths and compressed run lengths. */
import { assertNever } from '../../base/assert-never.js';
import { invariant } from '../../base/invariant.js';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';
import type { ImageSize } from '../image/image-size.js';
import { type Polygon, rasterizePolygons } from '../masks/polygon.js';
import { makeRle, type Rle } from '../masks/rle.js';
import { decodeRleText } from '../masks/rle-text.js';
import type { CocoId } from './coco-id.js';
import { ignoreOddity, type NoteOddity } from './oddities.js';
import { asArrayValues, asNumber, asNumbers, describeJson, type Place } from './reading.js';

export type Segmentation =
  | { readonly kind: 'polygons'; readonly polygons: readonly Polygon[] }
  | { readonly kind: 'rle'; readonly rle: Rle }
  /** Read from a file that has no mask here: `problem` is thrown where the mask is needed. */
  | { readonly kind: 'invalid'; readonly problem: DetectionError; readonly json: Json }
  /** Not parsed yet: `rasterize` does it. */
  | { readonly kind: 'unread'; readonly json: Json; readonly canvas: MaskCanvas; readonly place: Place };

/** How a parser of files reads masks. */
export type ReadSegmentation = typeof parseSegmentation;

/** Limit of an outline in pixels: longer than real annotations, and short enough to trace quickly. */
const LONGEST_OUTLINE = 2_000_000;
/** Coordinates are traced in fifths of a pixel, as integers of 32 bits. */
const FARTHEST = 2 ** 31 / 5 - 1;
/** Run lengths have 32 bits. */
const MOST_PIXELS = 2 ** 31;

/** The image that a mask belongs to; `unsized` where its size is not known. */
export interface MaskCanvas extends ImageSize {
  readonly id: CocoId;
  readonly unsized?: true;
}

/**
 * Parses polygons, plain run lengths or compressed run lengths. An empty list, null and absence give undefined. What is no mask becomes `invalid`, so
 * that figures of boxes can be computed from a file with such a mask.
 */
export function parseSegmentation(value: Json | undefined, image: MaskCanvas, place: Place, note: NoteOddity): Segmentation | undefined {
  if (isAbsent(value)) return undefined;
  try {
    if (isJsonList(value)) return { kind: 'polygons', polygons: parsePolygons(value, place, note) };
    if (!isJsonObject(value)) throw bad(place, 'is neither a list of polygons nor run lengths');
    const rle = parseRle(value, place);
    if (image.unsized === undefined && (rle.height !== image.height || rle.width !== image.width))
      note('mask-of-other-size', place, `${rle.height}×${rle.width}, its image is ${image.height}×${image.width} (height×width)`);
    return { kind: 'rle', rle };
  } catch (problem) {
    if (!(problem instanceof DetectionError)) throw problem;
    note('mask-invalid', problem.message);
    return { kind: 'invalid', problem, json: value };
  }
}

/**
 * Leaves a mask as it is in the file, for those who need few masks of many. What is odd or invalid is found by `rasterize`, and not noted.
 * An empty list, null and absence give undefined.
 */
export function leaveSegmentation(json: Json | undefined, canvas: MaskCanvas, place: Place): Segmentation | undefined {
  return isAbsent(json) ? undefined : { kind: 'unread', json, canvas, place };
}

function isAbsent(value: Json | undefined): value is undefined | null | readonly [] {
  return value === undefined || value === null || (isJsonList(value) && value.length === 0);
}

/**
 * The mask of a segmentation in an image. Run lengths keep their own size.
 * @throws DetectionError `coco-segmentation` for an invalid one, and for polygons in an image of unknown size.
 */
export function rasterize(segmentation: Segmentation, image: ImageSize | MaskCanvas): Rle {
  switch (segmentation.kind) {
    case 'rle':
      return segmentation.rle;
    case 'polygons':
      if ('unsized' in image && image.unsized)
        throw new DetectionError('coco-segmentation', `image ${image.id} has no valid width and height, which its polygons need`);
      return rasterizePolygons(segmentation.polygons, image.height, image.width);
    case 'invalid':
      throw segmentation.problem;
    case 'unread': {
      const { json, canvas, place } = segmentation;
      const parsed = parseSegmentation(json, canvas, place, ignoreOddity);
      invariant(parsed !== undefined, 'an unread segmentation is not absent');
      return rasterize(parsed, image);
    }
    default:
      return assertNever(segmentation);
  }
}

function parseRle(value: JsonObject, place: Place): Rle {
  const { size, counts } = value;
  if (!isSize(size)) throw bad(place, `has the size ${describeJson(size ?? null)}, not height and width`);
  const [height, width] = size;
  try {
    if (typeof counts === 'string') return decodeRleText(counts, height, width);
    const lengths = asNumbers(counts);
    if (lengths?.every(isSide)) return makeRle(height, width, lengths);
  } catch (cause) {
    throw bad(place, cause instanceof Error ? cause.message : String(cause), cause);
  }
  throw bad(place, 'has counts that are neither text nor integers ≥ 0');
}

function isSize(value: Json | undefined): value is readonly [number, number] {
  if (!isJsonList(value) || value.length !== 2) return false;
  const [height, width] = value;
  return typeof height === 'number' && typeof width === 'number' && isSide(height) && isSide(width) && height * width < MOST_PIXELS;
}

function isSide(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** As in pycocotools, the first polygon needs more than two points; a later one may be a line. */
function parsePolygons(values: readonly Json[], place: Place, note: NoteOddity): readonly Polygon[] {
  return values.map((value, index) => parsePolygon(value, `${place}[${index}]`, index === 0 ? 6 : 2, note));
}

function parsePolygon(json: Json, place: Place, fewest: number, note: NoteOddity): Polygon {
  const value = asArrayValues(json);
  if (!isJsonList(value) || value.length < fewest)
    throw bad(place, `is not a list of alternating x and y of at least ${fewest / 2} point${fewest === 2 ? '' : 's'}`);
  // The outline is traced step by step, so distant points would need unbounded time and memory.
  const polygon = value.map(coordinate => {
    const number = asNumber(coordinate);
    if (number === undefined) throw bad(place, `has the coordinate ${describeJson(coordinate)}`);
    if (!(Math.abs(number) < FARTHEST)) throw bad(place, `reaches to ${number}, too far to be drawn`);
    return number;
  });
  if (lengthOf(polygon) > LONGEST_OUTLINE) throw bad(place, `has an outline of more than ${LONGEST_OUTLINE} pixels`);
  if (polygon.length % 2 === 0) return polygon;
  note('polygon-odd', place);
  return polygon.slice(0, -1);
}

/** Length of the outline in pixels, measured along the longer axis of each edge: the number of trace steps. */
function lengthOf(polygon: readonly number[]): number {
  let length = 0;
  const points = polygon.length - (polygon.length % 2);
  for (let i = 0; i < points; i += 2) {
    const side = (axis: number) => Math.abs((polygon[i + axis] as number) - (polygon[((i + points - 2) % points) + axis] as number));
    length += Math.max(side(0), side(1));
  }
  return length;
}

function bad(place: Place, reason: string, cause?: unknown): DetectionError {
  return new DetectionError('coco-segmentation', `${place} ${reason}`, { details: { place }, cause });
}
