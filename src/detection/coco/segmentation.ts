/** Parser of COCO segmentations: polygons, plain run lengths and compressed run lengths. */
import { assertNever } from '../../base/assert-never.js';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';
import type { ImageSize } from '../image/image-size.js';
import { type Polygon, rasterizePolygons } from '../masks/polygon.js';
import { makeRle, type Rle } from '../masks/rle.js';
import { decodeRleText } from '../masks/rle-text.js';
import { describeJson, type Place } from './reading.js';

export type Segmentation =
  | { readonly kind: 'polygons'; readonly polygons: readonly Polygon[] }
  | { readonly kind: 'rle'; readonly rle: Rle };

/** Limit of an outline in pixels: longer than real annotations, and short enough to trace quickly. */
const LONGEST_OUTLINE = 2_000_000;

/**
 * Parses polygons, plain run lengths or compressed run lengths. An empty list gives undefined.
 * @param image the required size of the mask.
 * @throws DetectionError `coco-segmentation` for other values, other sizes, too many pixels, and polygons far outside the image.
 */
export function parseSegmentation(value: Json, image: ImageSize, place: Place): Segmentation | undefined {
  if (isJsonObject(value)) return { kind: 'rle', rle: parseRle(value, image, place) };
  if (!Array.isArray(value)) throw bad(place, 'is neither a list of polygons nor run lengths');
  if (value.length === 0) return undefined;
  return { kind: 'polygons', polygons: value.map((polygon: Json, index) => parsePolygon(polygon, image, `${place}[${index}]`)) };
}

/** The mask of a segmentation in an image of this size. */
export function rasterize(segmentation: Segmentation, image: ImageSize): Rle {
  switch (segmentation.kind) {
    case 'rle':
      return segmentation.rle;
    case 'polygons':
      return rasterizePolygons(segmentation.polygons, image.height, image.width);
    default:
      return assertNever(segmentation);
  }
}

function parseRle(value: JsonObject, image: ImageSize, place: Place): Rle {
  const { size, counts } = value;
  if (!Array.isArray(size) || size.length !== 2) throw bad(place, 'has no size of height and width');
  if (size[0] !== image.height || size[1] !== image.width)
    throw bad(place, `has size ${describeJson(size)}, but its image is ${image.height}×${image.width} (height×width)`);
  try {
    if (typeof counts === 'string') return decodeRleText(counts, image.height, image.width);
    if (isRunLengths(counts)) return makeRle(image.height, image.width, counts);
  } catch (cause) {
    throw bad(place, cause instanceof Error ? cause.message : String(cause), cause);
  }
  throw bad(place, 'has counts that are neither text nor integers ≥ 0');
}

function isRunLengths(counts: Json | undefined): counts is readonly number[] {
  return Array.isArray(counts) && counts.every(count => typeof count === 'number' && Number.isSafeInteger(count) && count >= 0);
}

function parsePolygon(value: Json, image: ImageSize, place: Place): Polygon {
  if (!Array.isArray(value) || value.length < 6 || value.length % 2 === 1)
    throw bad(place, 'is not a list of alternating x and y of at least 3 points');
  // The outline is traced step by step, so distant points would need unbounded time and memory.
  const farthest = 4 * Math.max(image.height, image.width);
  for (const coordinate of value as readonly Json[]) {
    if (typeof coordinate !== 'number') throw bad(place, `has the coordinate ${describeJson(coordinate)}`);
    if (!(Math.abs(coordinate) <= farthest))
      throw bad(place, `reaches to ${coordinate}, far outside its ${image.width}×${image.height} image`);
  }
  const polygon = value as readonly number[];
  if (lengthOf(polygon) > LONGEST_OUTLINE) throw bad(place, `has an outline of more than ${LONGEST_OUTLINE} pixels`);
  return polygon;
}

/** Length of the outline in pixels, measured along the longer axis of each edge: the number of trace steps. */
function lengthOf(polygon: readonly number[]): number {
  let length = 0;
  for (let i = 2; i < polygon.length; i += 2) {
    const side = (axis: number) => Math.abs((polygon[i + axis] as number) - (polygon[i + axis - 2] as number));
    length += Math.max(side(0), side(1));
  }
  return length;
}

function bad(place: Place, reason: string, cause?: unknown): DetectionError {
  return new DetectionError('coco-segmentation', `${place} ${reason}`, { details: { place }, cause });
}
