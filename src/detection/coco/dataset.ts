/** Parser of COCO instances files: images, categories and annotated objects. */
import type { Json, JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';
import type { TruthKind } from '../masks/rle-combine.js';
import { indexById, parseFileName, parseImageId } from './image-entry.js';
import { badField, member, type Place, readInteger, readList, readNumber, readObject, readText } from './reading.js';
import { parseSegmentation, type Segmentation } from './segmentation.js';

export interface CocoImage {
  readonly id: number;
  readonly width: number;
  readonly height: number;
  /** Relative to the image folder; undefined where the file has none. */
  readonly fileName: string | undefined;
}

export interface CocoCategory {
  readonly id: number;
  readonly name: string;
}

/** x, y of the upper left corner, width, height, in pixels. */
export type CocoBox = readonly [number, number, number, number];

export interface CocoAnnotation {
  readonly id: number;
  readonly imageId: number;
  readonly categoryId: number;
  readonly kind: TruthKind;
  /** Area in pixels, which decides the size class. */
  readonly area: number;
  readonly box: CocoBox | undefined;
  readonly segmentation: Segmentation | undefined;
}

/** All lists are in the order of the file. */
export interface CocoDataset {
  readonly images: readonly CocoImage[];
  readonly categories: readonly CocoCategory[];
  readonly annotations: readonly CocoAnnotation[];
}

/** Run lengths have 32 bits. */
const MOST_PIXELS = 2 ** 31;

/**
 * Parses an instances file. Other members are ignored. `bbox` and `segmentation` of an annotation may be missing.
 * @throws DetectionError `coco-field` (missing, wrong type), `coco-duplicate-id`, `coco-unknown-image`, `coco-unknown-category`,
 *         `coco-segmentation`, `coco-file-name`; the message names the place in the file.
 */
export function parseCocoDataset(value: Json): CocoDataset {
  const root = readObject(value, 'the file');
  const images = readList(root, 'images', 'the file').map(parseImage);
  const imageById = indexById(images, 'image');
  const categories = readList(root, 'categories', 'the file').map(parseCategory);
  const categoryById = indexById(categories, 'category');
  const annotations = readList(root, 'annotations', 'the file').map((entry, index) =>
    parseAnnotation(readObject(entry, `annotations[${index}]`), `annotations[${index}]`, imageById, categoryById),
  );
  indexById(annotations, 'annotation');
  return { images, categories, annotations };
}

/** Parses `bbox`; undefined where it is missing or empty. @throws DetectionError `coco-field`. */
export function parseBox(object: JsonObject, place: Place): CocoBox | undefined {
  const value = member(object, 'bbox');
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return undefined;
  if (!isBox(value)) throw badField(`${place}.bbox`, 'four numbers', value);
  return value;
}

function isBox(value: unknown): value is CocoBox {
  return Array.isArray(value) && value.length === 4 && value.every(side => typeof side === 'number' && Number.isFinite(side));
}

export function unknownImage(place: Place, id: number): DetectionError {
  return new DetectionError('coco-unknown-image', `${place} refers to image ${id}, which the annotations file does not have`, {
    details: { place, id },
    help: 'check that annotations and results belong to the same data set',
  });
}

function parseImage(entry: Json, index: number): CocoImage {
  const place = `images[${index}]`;
  const object = readObject(entry, place);
  const image = {
    id: parseImageId(object, place),
    width: readInteger(object, 'width', place, 1),
    height: readInteger(object, 'height', place, 1),
    fileName: member(object, 'file_name') === undefined ? undefined : parseFileName(object, place),
  };
  if (image.width * image.height >= MOST_PIXELS)
    throw badField(`${place}.width`, `small enough for an image of less than ${MOST_PIXELS} pixels`, image.width);
  return image;
}

function parseCategory(entry: Json, index: number): CocoCategory {
  const place = `categories[${index}]`;
  const object = readObject(entry, place);
  return { id: readInteger(object, 'id', place), name: readText(object, 'name', place) };
}

function parseAnnotation(
  object: JsonObject,
  place: Place,
  images: ReadonlyMap<number, CocoImage>,
  categories: ReadonlyMap<number, CocoCategory>,
): CocoAnnotation {
  const imageId = readInteger(object, 'image_id', place);
  const categoryId = readInteger(object, 'category_id', place);
  const image = images.get(imageId);
  if (image === undefined) throw unknownImage(place, imageId);
  if (!categories.has(categoryId))
    throw new DetectionError('coco-unknown-category', `${place} refers to category ${categoryId}, which the file does not have`, {
      details: { place, id: categoryId },
    });
  const segmentation = member(object, 'segmentation');
  return {
    id: readInteger(object, 'id', place),
    imageId,
    categoryId,
    kind: parseCrowd(object, place),
    area: readNumber(object, 'area', place),
    box: parseBox(object, place),
    segmentation:
      segmentation === undefined || segmentation === null ? undefined : parseSegmentation(segmentation, image, `${place}.segmentation`),
  };
}

function parseCrowd(object: JsonObject, place: Place): TruthKind {
  const value = member(object, 'iscrowd');
  if (value === 0 || value === false) return 'object';
  if (value === 1 || value === true) return 'crowd';
  throw badField(`${place}.iscrowd`, '0 or 1', value);
}
