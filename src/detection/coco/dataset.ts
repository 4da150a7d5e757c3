/** Parser of COCO instances files: images, categories and annotated objects. */
import { isJsonList, type Json, type JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';
import type { TruthKind } from '../masks/rle-combine.js';
import { type CocoId, compareIds, indexById, readId } from './coco-id.js';
import { parseFileName } from './image-entry.js';
import { type Keypoints, parseKeypoints } from './keypoints.js';
import { ignoreOddity, type NoteOddity } from './oddities.js';
import { badField, member, type Place, readList, readObject } from './reading.js';
import { parseSegmentation, type ReadSegmentation, type Segmentation } from './segmentation.js';

export interface CocoImage {
  readonly id: CocoId;
  /** 0 where the file has no valid size; then `unsized` is set. */
  readonly width: number;
  readonly height: number;
  readonly unsized?: true;
  /** Relative to the image folder; undefined where the file has none. */
  readonly fileName: string | undefined;
}

export interface CocoCategory {
  readonly id: CocoId;
  readonly name: string;
}

/** x, y of the upper left corner, width, height, in pixels. */
export type CocoBox = readonly [number, number, number, number];

export interface CocoAnnotation {
  readonly id: CocoId;
  readonly imageId: CocoId;
  readonly categoryId: CocoId;
  readonly kind: TruthKind;
  /** Area in pixels, which decides the size class; undefined for a crowd that has none. */
  readonly area: number | undefined;
  readonly box: CocoBox | undefined;
  readonly segmentation: Segmentation | undefined;
  readonly keypoints?: Keypoints;
}

/** Images and categories are in the order of the file. So are annotations, unless ids repeat: then they are in the order of their images. */
export interface CocoDataset {
  readonly images: readonly CocoImage[];
  readonly categories: readonly CocoCategory[];
  readonly annotations: readonly CocoAnnotation[];
}

/**
 * Parses an instances file. Other members are ignored. As in pycocotools, `bbox` and `segmentation` of an annotation are needed only by figures that use
 * them, annotations of unknown images and categories are ignored, and of equal ids the last one counts. `note` gets what is odd.
 * @throws DetectionError `coco-field` (missing, wrong type), `coco-file-name`; the message names the place in the file.
 */
export function parseCocoDataset(
  value: Json,
  note: NoteOddity = ignoreOddity,
  readMask: ReadSegmentation = parseSegmentation,
): CocoDataset {
  const root = readObject(value, 'the file');
  const images = indexById(
    readList(root, 'images', 'the file').map((entry, index) => parseImage(entry, `images[${index}]`, note)),
    index => note('image-repeated', `images[${index}]`),
  );
  const categories = indexById(
    readList(root, 'categories', 'the file').map((entry, index) => parseCategory(entry, `categories[${index}]`, note)),
    index => note('category-repeated', `categories[${index}]`),
  );
  if (member(root, 'annotations') === undefined) note('annotations-missing', 'annotations');
  const entries = member(root, 'annotations') === undefined ? [] : readList(root, 'annotations', 'the file');
  const owners: Owners = { images, categories, readMask };
  const annotations = parseEntries(entries, owners, note);
  return { images: [...images.values()], categories: [...categories.values()], annotations };
}

/** Parses `bbox`; undefined where it is missing, empty or not four numbers. */
export function parseBox(object: JsonObject, place: Place, note: NoteOddity): CocoBox | undefined {
  const value = member(object, 'bbox');
  if (value === undefined || value === null || (isJsonList(value) && value.length === 0)) return undefined;
  if (isBox(value)) {
    if (!value.every(Number.isFinite)) note('not-finite', `${place}.bbox`);
    return value;
  }
  note('box-invalid', `${place}.bbox`);
  return undefined;
}

function isBox(value: unknown): value is CocoBox {
  return Array.isArray(value) && value.length === 4 && value.every(side => typeof side === 'number');
}

export function unknownImage(place: Place, id: CocoId): DetectionError {
  return new DetectionError('coco-unknown-image', `${place} refers to image ${id}, which the annotations file does not have`, {
    details: { place, id },
    help: 'check that annotations and results belong to the same data set',
  });
}

/** Run lengths have 32 bits. */
const MOST_PIXELS = 2 ** 31;

function parseImage(entry: Json, place: Place, note: NoteOddity): CocoImage {
  const object = readObject(entry, place);
  const named = {
    id: readId(object, 'id', place),
    fileName: member(object, 'file_name') === undefined ? undefined : parseFileName(object, place),
  };
  const [width, height] = [parseSide(object, 'width'), parseSide(object, 'height')];
  if (width === undefined || height === undefined) {
    note('image-unsized', place);
    return { ...named, width: 0, height: 0, unsized: true };
  }
  if (width * height >= MOST_PIXELS)
    throw badField(`${place}.width`, `small enough for an image of less than ${MOST_PIXELS} pixels`, width);
  return { ...named, width, height };
}

/** Fractions are dropped, as pycocotools does. */
function parseSide(object: JsonObject, name: 'width' | 'height'): number | undefined {
  const value = member(object, name);
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.trunc(value) : undefined;
}

function parseCategory(entry: Json, place: Place, note: NoteOddity): CocoCategory {
  const object = readObject(entry, place);
  const id = readId(object, 'id', place);
  const name = member(object, 'name');
  if (typeof name !== 'string') note('category-unnamed', place);
  return { id, name: typeof name === 'string' ? name : String(id) };
}

interface Owners {
  readonly images: ReadonlyMap<CocoId, CocoImage>;
  readonly categories: ReadonlyMap<CocoId, CocoCategory>;
  readonly readMask: ReadSegmentation;
}

/** An entry of `annotations` that the file has image and category of. */
interface Entry {
  readonly id: CocoId;
  readonly imageId: CocoId;
  /** Undefined where a later entry has the same id. */
  readonly annotation: CocoAnnotation | undefined;
}

interface Entries {
  readonly known: readonly Entry[];
  /** Whether ids repeat, also among entries of unknown images and categories. */
  readonly ids: 'unique' | 'repeated';
  /** The annotation of each id: undefined where the last entry of the id is of an unknown image or category. */
  readonly last: ReadonlyMap<CocoId, CocoAnnotation | undefined>;
}

/** Reads an annotation whole only where its id does not come again: what does not count may lack anything but its ids. */
function parseEntries(entries: readonly Json[], owners: Owners, note: NoteOddity): readonly CocoAnnotation[] {
  const objects = entries.map((entry, index) => {
    const place = `annotations[${index}]`;
    const object = readObject(entry, place);
    return { place, object, id: readId(object, 'id', place) };
  });
  const places = new Map(objects.map(({ id, place }) => [id, place]));
  const last = new Map<CocoId, CocoAnnotation | undefined>();
  const known = objects.flatMap(({ id, object, place }): Entry[] => {
    const counts = places.get(id) === place;
    const [imageId, categoryId] = [readId(object, 'image_id', place), readId(object, 'category_id', place)];
    const image = owners.images.get(imageId);
    if (image === undefined || !owners.categories.has(categoryId)) {
      if (image === undefined) note('annotation-of-unknown-image', place, `image ${imageId}`);
      else note('annotation-of-unknown-category', place, `category ${categoryId}`);
      if (counts) last.set(id, undefined);
      return [];
    }
    const annotation = counts ? parseAnnotation(object, { id, imageId, categoryId, image, place }, owners.readMask, note) : undefined;
    if (counts) last.set(id, annotation);
    return [{ id, imageId, annotation }];
  });
  for (const { id, place } of objects) if (places.get(id) !== place) note('annotation-repeated', place, `id ${id}`);
  return takeLast({ known, last, ids: places.size === objects.length ? 'unique' : 'repeated' }, owners);
}

interface Known {
  readonly id: CocoId;
  readonly imageId: CocoId;
  readonly categoryId: CocoId;
  readonly image: CocoImage;
  readonly place: Place;
}

function parseAnnotation(
  object: JsonObject,
  { id, imageId, categoryId, image, place }: Known,
  readMask: ReadSegmentation,
  note: NoteOddity,
): CocoAnnotation {
  const kind = parseCrowd(object, place, note);
  return {
    id,
    imageId,
    categoryId,
    kind,
    area: parseArea(object, kind, place, note),
    box: parseBox(object, place, note),
    segmentation: readMask(member(object, 'segmentation'), image, `${place}.segmentation`, note),
    ...parseKeypoints(object, place),
  };
}

/** Of equal ids, the last entry counts once per entry, in the order of the images. */
function takeLast({ known, last, ids }: Entries, { images }: Owners): readonly CocoAnnotation[] {
  if (ids === 'unique') return known.flatMap(({ annotation }) => annotation ?? []);
  const places = new Map([...images.keys()].sort(compareIds).map((id, index) => [id, index]));
  return known.toSorted((a, b) => (places.get(a.imageId) ?? 0) - (places.get(b.imageId) ?? 0)).flatMap(({ id }) => last.get(id) ?? []);
}

/** Any number, NaN included, which is outside of no size class. A crowd may lack it. */
function parseArea(object: JsonObject, kind: TruthKind, place: Place, note: NoteOddity): number | undefined {
  const value = member(object, 'area');
  if (value === undefined && kind === 'crowd') {
    note('crowd-without-area', place);
    return undefined;
  }
  if (typeof value !== 'number') throw badField(`${place}.area`, 'a number', value);
  if (!Number.isFinite(value)) note('not-finite', `${place}.area`);
  return value;
}

function parseCrowd(object: JsonObject, place: Place, note: NoteOddity): TruthKind {
  const value = member(object, 'iscrowd');
  if (value === 0 || value === false) return 'object';
  if (value === 1 || value === true) return 'crowd';
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 255)
    throw badField(`${place}.iscrowd`, '0 or 1', value);
  note('crowd-value', `${place}.iscrowd`, String(value));
  return 'crowd';
}
