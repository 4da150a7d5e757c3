/** Parser of COCO instances files: images, categories and annotated objects. */
import { isJsonList, type Json, type JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';
import type { TruthKind } from '../masks/rle-combine.js';
import { type CocoId, compareIds, indexById, readId } from './coco-id.js';
import { findFileName } from './image-entry.js';
import { isUnlabeled, type Keypoints, parseKeypoints } from './keypoints.js';
import { ignoreOddity, type NoteOddity } from './oddities.js';
import { asArrayValues, asNumber, asNumbers, badField, member, type Place, readList, readObject } from './reading.js';
import { parseSegmentation, type ReadSegmentation, type Segmentation } from './segmentation.js';

export interface CocoImage {
  readonly id: CocoId;
  /** 0 where the file has no valid size; then `unsized` is set. */
  readonly width: number;
  readonly height: number;
  readonly unsized?: true;
  /** Relative to the image folder; undefined where the file has none, or none that stays in the folder. */
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
  /** Set for an object that is not counted although a detection alone may match it: `iscrowd` is between 0 and 1. */
  readonly ignored?: true;
  /** Area in pixels, which decides the size class; undefined where it is missing and the object is a crowd, `ignored` or `unlabeled`. */
  readonly area: number | undefined;
  readonly box: CocoBox | undefined;
  readonly segmentation: Segmentation | undefined;
  readonly keypoints?: Keypoints;
  /** Set where figures of keypoints do not count the object: it has no labeled point. */
  readonly unlabeled?: true;
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
 * @throws DetectionError `coco-field` (missing, wrong type); the message names the place in the file.
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

/** Parses a `bbox`; undefined where it is missing, empty or not four numbers. */
export function parseBox(value: Json | undefined, place: Place, note: NoteOddity): CocoBox | undefined {
  if (value === undefined || value === null || (isJsonList(value) && value.length === 0)) return undefined;
  const box = asNumbers(value);
  if (box !== undefined && isBox(box)) {
    if (!box.every(Number.isFinite)) note('not-finite', place);
    return box;
  }
  note('box-invalid', place);
  return undefined;
}

function isBox(box: readonly number[]): box is CocoBox {
  return box.length === 4;
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
    fileName: findFileName(object, place, note),
  };
  const [width, height] = [parseSide(object, 'width'), parseSide(object, 'height')];
  if (width !== undefined && height !== undefined && width * height < MOST_PIXELS) return { ...named, width, height };
  note('image-unsized', place);
  return { ...named, width: 0, height: 0, unsized: true };
}

/** Fractions are dropped, as pycocotools does. */
function parseSide(object: JsonObject, name: 'width' | 'height'): number | undefined {
  const value = asNumber(member(object, name));
  return value !== undefined && Number.isFinite(value) && value >= 0 ? Math.trunc(value) : undefined;
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
  const counted = parseCrowd(object, place, note);
  const points = parseKeypoints(object, place, note);
  const unlabeled = isUnlabeled(object, points.keypoints);
  return {
    id,
    imageId,
    categoryId,
    ...counted,
    area: parseArea(object, { ...counted, unlabeled }, place, note),
    box: parseBox(asArrayValues(member(object, 'bbox')), `${place}.bbox`, note),
    segmentation: readMask(member(object, 'segmentation'), image, `${place}.segmentation`, note),
    ...points,
    ...(unlabeled ? { unlabeled } : {}),
  };
}

/** Of equal ids, the last entry counts once per entry, in the order of the images. */
function takeLast({ known, last, ids }: Entries, { images }: Owners): readonly CocoAnnotation[] {
  if (ids === 'unique') return known.flatMap(({ annotation }) => annotation ?? []);
  const places = new Map([...images.keys()].sort(compareIds).map((id, index) => [id, index]));
  return known.toSorted((a, b) => (places.get(a.imageId) ?? 0) - (places.get(b.imageId) ?? 0)).flatMap(({ id }) => last.get(id) ?? []);
}

/** Whether an object is counted; an unlabeled one is by all figures but those of keypoints. */
interface Counted {
  readonly kind: TruthKind;
  readonly ignored?: true;
}

/** Any number, NaN included, which is outside of no size class. What is not counted may lack it. */
function parseArea(
  object: JsonObject,
  { kind, ignored, unlabeled }: Counted & { readonly unlabeled: boolean },
  place: Place,
  note: NoteOddity,
): number | undefined {
  const value = asNumber(member(object, 'area'));
  if (value === undefined) {
    if (kind === 'object' && !ignored && !unlabeled) throw badField(`${place}.area`, 'a number', member(object, 'area'));
    note(kind === 'crowd' ? 'crowd-without-area' : 'ignored-without-area', place);
  } else if (!Number.isFinite(value)) note('not-finite', `${place}.area`);
  return value;
}

/** As Python reads it: whatever is not 0 is not counted, and a crowd where its integer part is not 0. Text of an integer is a number for the latter. */
function parseCrowd(object: JsonObject, place: Place, note: NoteOddity): Counted {
  const value = member(object, 'iscrowd');
  const number = typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : asNumber(value);
  if (number === undefined || !Number.isFinite(number)) throw badField(`${place}.iscrowd`, '0 or 1', value);
  if (value === 0 || value === false) return { kind: 'object' };
  if (value !== 1 && value !== true) note('crowd-value', `${place}.iscrowd`, String(value));
  return Math.trunc(number) === 0 ? { kind: 'object', ignored: true } : { kind: 'crowd' };
}
