/** COCO data sets and detections as columns of numbers: from a whole file, or from the rows that a server has read of one. */
import { parsePythonJson } from '../../../base/json/python-json.js';
import { isJsonObject, type Json } from '../../../base/json.js';
import type { CocoId } from '../../../detection/coco/coco-id.js';
import {
  type CocoAnnotation,
  type CocoBox,
  type CocoCategory,
  type CocoDataset,
  type CocoImage,
  parseCocoDataset,
} from '../../../detection/coco/dataset.js';
import { ignoreOddity } from '../../../detection/coco/oddities.js';
import { type CocoResult, parseCocoResults } from '../../../detection/coco/results.js';
import { type CocoRows, decodeRows, ROW, ROW_LENGTH } from '../../../detection/coco/row-blocks.js';
import { leaveSegmentation, type Segmentation } from '../../../detection/coco/segmentation.js';

/** Objects in the order of their file. */
export interface ObjectColumns {
  /** Indexes of their images in the data set; −1 where it lacks the image or the category, so that the object does not count. */
  readonly images: Int32Array;
  /** The numbers of their categories in `Dataset.labels`. */
  readonly labels: Uint32Array;
  /** x, y, width and height; zeros without a box: such an object is listed and not drawn. */
  readonly boxes: Float64Array;
  /** 0 for annotations. */
  readonly scores: Float64Array;
  /** NaN without a score of the mask. */
  readonly maskScores: Float64Array;
  /** 1 for crowds. */
  readonly crowds: Uint8Array;
  readonly masks: Masks;
}

interface Masks {
  has(index: number): boolean;
  of(index: number): Segmentation | undefined;
}

export interface Dataset {
  readonly images: readonly CocoImage[];
  readonly categories: readonly CocoCategory[];
  readonly truth: ObjectColumns;
  /** Indexes of images. */
  readonly places: ReadonlyMap<CocoId, number>;
  /** A number for each id of a category, also of those that only detections have. */
  readonly labels: Map<CocoId, number>;
}

/** @throws DetectionError as `parseCocoDataset`; SyntaxError where the file is not JSON. */
export function readDataset(bytes: ArrayBuffer): Dataset {
  const source = parseCocoDataset(parsePythonJson(new TextDecoder().decode(bytes)), ignoreOddity, leaveSegmentation);
  return datasetOf(source, known => columnsOf(source.annotations, known));
}

/** @throws DetectionError as `parseCocoResults`; SyntaxError where the file is not JSON. */
export function readDetections(bytes: ArrayBuffer, dataset: Dataset): ObjectColumns {
  const known: Pick<CocoDataset, 'images' | 'categories' | 'annotations'> = { ...dataset, annotations: [] };
  return columnsOf(parseCocoResults(parsePythonJson(new TextDecoder().decode(bytes)), known, ignoreOddity, leaveSegmentation), dataset);
}

/** The data set of the rows; undefined where only the file says what it means. @throws DetectionError as `parseCocoDataset`. */
export function readDatasetRows(bytes: ArrayBuffer): Dataset | undefined {
  const rows = decodeRows(bytes);
  const rest = rows?.rest === undefined ? undefined : tryParse(rows.rest);
  if (rows === undefined || !isJsonObject(rest) || hasRepeatedId(rows)) return undefined;
  const source = parseCocoDataset({ ...rest, annotations: [] }, ignoreOddity, leaveSegmentation);
  return datasetOf(source, known => columnsOfRows(rows, 'annotations', known));
}

/** undefined for what is no JSON: the error of the whole file names the place in it. */
function tryParse(text: string): Json | undefined {
  try {
    return parsePythonJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The detections of the rows; undefined where only the file says what they mean: also the error of an unknown image. */
export function readDetectionRows(bytes: ArrayBuffer, dataset: Dataset): ObjectColumns | undefined {
  const rows = decodeRows(bytes);
  if (rows === undefined || rows.rest !== undefined) return undefined;
  const columns = columnsOfRows(rows, 'results', dataset);
  return columns.images.includes(-1) ? undefined : columns;
}

type Known = Omit<Dataset, 'truth'>;

function datasetOf({ images, categories }: Pick<CocoDataset, 'images' | 'categories'>, truthOf: (known: Known) => ObjectColumns): Dataset {
  const places = new Map(images.map(({ id }, index) => [id, index]));
  const labels = new Map(categories.map(({ id }, index) => [id, index]));
  const known = { images, categories, places, labels };
  return { ...known, truth: truthOf(known) };
}

function newColumns(count: number, masks: Masks): ObjectColumns {
  return {
    images: new Int32Array(count),
    labels: new Uint32Array(count),
    boxes: new Float64Array(4 * count),
    scores: new Float64Array(count),
    maskScores: new Float64Array(count).fill(Number.NaN),
    crowds: new Uint8Array(count),
    masks,
  };
}

function labelOf(labels: Map<CocoId, number>, id: CocoId): number {
  const label = labels.get(id) ?? labels.size;
  if (label === labels.size) labels.set(id, label);
  return label;
}

const NO_BOX: CocoBox = [0, 0, 0, 0];

function columnsOf(objects: readonly (CocoResult | CocoAnnotation)[], { places, labels }: Known): ObjectColumns {
  const masks: Masks = { has: index => objects[index]?.segmentation !== undefined, of: index => objects[index]?.segmentation };
  const columns = newColumns(objects.length, masks);
  for (const [index, object] of objects.entries()) {
    columns.images[index] = places.get(object.imageId) ?? -1;
    columns.labels[index] = labelOf(labels, object.categoryId);
    columns.boxes.set(object.box ?? NO_BOX, 4 * index);
    if ('kind' in object) columns.crowds[index] = Number(object.kind === 'crowd');
    else {
      columns.scores[index] = object.score;
      columns.maskScores[index] = object.maskScore ?? Number.NaN;
    }
  }
  return columns;
}

function hasRepeatedId({ blocks, count }: CocoRows): boolean {
  const ids = new Set<number>();
  for (const block of blocks) for (let at = 0; at < block.length; at += ROW_LENGTH) ids.add(block[at + ROW.id] as number);
  return ids.size < count;
}

function columnsOfRows({ blocks, count }: CocoRows, of: 'results' | 'annotations', { images, places, labels }: Known): ObjectColumns {
  const masks = new Float64Array(2 * count);
  const columns = newColumns(count, {
    has: index => !Number.isNaN(masks[2 * index]),
    of(index) {
      const [start = Number.NaN, end = start] = masks.subarray(2 * index, 2 * index + 2);
      const canvas = images[columns.images[index] ?? -1];
      if (Number.isNaN(start) || canvas === undefined) return undefined;
      return { kind: 'unread', json: { bytes: [start, end] }, canvas, place: `${of}[${index}].segmentation` };
    },
  });
  const isKnown = of === 'annotations' ? (label: number | undefined) => label !== undefined : () => true;
  let index = 0;
  for (const block of blocks) {
    for (let at = 0; at < block.length; at += ROW_LENGTH, index++) {
      const number = (field: number): number => block[at + field] as number;
      const category = number(ROW.category);
      columns.images[index] = isKnown(labels.get(category)) ? (places.get(number(ROW.image)) ?? -1) : -1;
      if (columns.images[index] !== -1) columns.labels[index] = labelOf(labels, category);
      for (let side = 0; side < 4; side++) columns.boxes[4 * index + side] = number(ROW.box + side);
      if (of === 'annotations') columns.crowds[index] = number(ROW.maskScore);
      else {
        columns.scores[index] = number(ROW.score);
        columns.maskScores[index] = number(ROW.maskScore);
      }
      masks[2 * index] = number(ROW.maskStart);
      masks[2 * index + 1] = number(ROW.maskEnd);
    }
  }
  return columns;
}
