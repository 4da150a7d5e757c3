/** Matches the detections of both sides image by image. */
import type { CocoId } from '../../../detection/coco/coco-id.js';
import type { CocoImage } from '../../../detection/coco/dataset.js';
import type { Segmentation } from '../../../detection/coco/segmentation.js';
import { type LabeledBoxes, matchDetections } from '../../../detection/compare/match-detections.js';
import { type Dataset, type ObjectColumns as Objects, readDataset, readDetections } from './detection-columns.js';
import { newObjectColumns, newTruthColumns } from './object-columns.js';
import {
  type ListedImage,
  type MatchOrder,
  type MatchResult,
  OBJECT_KINDS,
  type ObjectColumns,
  type ObjectKind,
  type SideColumns,
  type TruthColumns,
} from './result-types.js';

/** Box IoU from which on objects of one class are partners. */
const LEAST_IOU = 0.5;

/** A partner is changed if its score or its box moved by more. */
const [MOST_SCORE_CHANGE, LEAST_EQUAL_IOU] = [0.1, 0.8];

/** The masks of an image, in the order of the columns. */
export interface MaskedImage {
  readonly image: CocoImage;
  readonly left: readonly (Segmentation | undefined)[];
  readonly right: readonly (Segmentation | undefined)[];
  readonly truth: readonly (Segmentation | undefined)[];
}

export interface Matched {
  readonly result: MatchResult;
  /** Of an image of the result. */
  readonly masksAt: (index: number) => MaskedImage | undefined;
}

/** @throws DetectionError as `parseCocoDataset` and `parseCocoResults`; SyntaxError where a file is not JSON. */
export function matchResults({ left, right, annotations }: MatchOrder): Matched {
  const dataset = readDataset(annotations);
  return matchSides(dataset, [readDetections(left, dataset), readDetections(right, dataset)]);
}

export function listedImage({ id, fileName = '', width, height }: CocoImage): ListedImage {
  return { id: String(id), file: fileName, width, height };
}

export function matchSides(dataset: Dataset, [left, right]: readonly [Objects, Objects]): Matched {
  const count = dataset.images.length;
  const [ones, others, truths] = [groupByImage(left, count), groupByImage(right, count), groupByImage(dataset.truth, count)];
  const all = dataset.images.map((_, index) => index);
  const shown = left.images.length + right.images.length === 0 ? all : all.filter(index => sizeOf(ones, index) + sizeOf(others, index) > 0);
  const pairs = pairImages(shown, ones, others);
  const objects = fillObjects(pairs, left, right);
  const { truth, truthStarts, truthRows } = fillTruth(shown, truths);
  const categories = nameCategories({ objects, truth }, dataset);
  // The columns of the result are handed over to the page.
  const [objectStarts, shownStarts] = [pairs.starts.slice(), truthStarts.slice()];
  const hasMasks = [left, right].some(side => side.labels.some((_, index) => side.masks.has(index)));
  return {
    result: {
      images: shown.map(index => listedImage(dataset.images[index] as CocoImage)),
      objectStarts,
      truthStarts: shownStarts,
      objects,
      truth,
      categories,
      totals: countKinds(objects),
      hasMasks: hasMasks || truthRows.some(row => dataset.truth.masks.has(row)),
    },
    masksAt(index) {
      const image = dataset.images[shown[index] ?? -1];
      if (image === undefined) return undefined;
      const [start = 0, end = start] = pairs.starts.subarray(index, index + 2);
      const of = ({ masks }: Objects, rows: Int32Array): MaskedImage['left'] =>
        Array.from(rows.subarray(start, end), row => (row < 0 ? undefined : masks.of(row)));
      const own = truthRows.subarray(truthStarts[index], truthStarts[index + 1]);
      return {
        image,
        left: of(left, pairs.left),
        right: of(right, pairs.right),
        truth: Array.from(own, row => dataset.truth.masks.of(row)),
      };
    },
  };
}

/** Objects image by image, those of an image in the order of the file. */
interface Grouped {
  readonly objects: Objects;
  /** Rows of `objects`. */
  readonly rows: Int32Array;
  /** Per image of the data set the index of its first row; one more at the end. */
  readonly starts: Uint32Array;
}

function groupByImage(objects: Objects, images: number): Grouped {
  const starts = new Uint32Array(images + 1);
  for (const image of objects.images) if (image >= 0) starts[image + 1] = (starts[image + 1] as number) + 1;
  for (let image = 0; image < images; image++) starts[image + 1] = (starts[image + 1] as number) + (starts[image] as number);
  const rows = new Int32Array(starts[images] as number);
  const next = starts.slice();
  for (const [row, image] of objects.images.entries()) {
    if (image < 0) continue;
    const at = next[image] as number;
    rows[at] = row;
    next[image] = at + 1;
  }
  return { objects, rows, starts };
}

function rowsOf({ rows, starts }: Grouped, image: number): Int32Array {
  return rows.subarray(starts[image], starts[image + 1]);
}

function sizeOf({ starts }: Grouped, image: number): number {
  return (starts[image + 1] as number) - (starts[image] as number);
}

/** Objects of both sides as rows of each; −1 where a side lacks one. */
interface Pairs {
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** NaN without a partner. */
  readonly ious: Float64Array;
  /** Per image that is shown the index of its first object; one more at the end. */
  readonly starts: Uint32Array;
}

/** Of an image first the partners, then what only the left side has, then what only the right side has. */
function pairImages(shown: readonly number[], ones: Grouped, others: Grouped): Pairs {
  const most = ones.rows.length + others.rows.length;
  const [left, right, ious] = [new Int32Array(most), new Int32Array(most), new Float64Array(most).fill(Number.NaN)];
  const starts = new Uint32Array(shown.length + 1);
  let count = 0;
  const put = (one: number | undefined, other: number | undefined): void => {
    left[count] = one ?? -1;
    right[count++] = other ?? -1;
  };
  for (const [index, image] of shown.entries()) {
    const [own, theirs] = [rowsOf(ones, image), rowsOf(others, image)];
    const { pairs, missed, extra } = matchDetections(toBoxes(ones.objects, own), toBoxes(others.objects, theirs), LEAST_IOU);
    for (const { reference, candidate, iou } of pairs) {
      ious[count] = iou;
      put(own[reference], theirs[candidate]);
    }
    for (const one of missed) put(own[one], undefined);
    for (const other of extra) put(undefined, theirs[other]);
    starts[index + 1] = count;
  }
  return { left: left.subarray(0, count), right: right.subarray(0, count), ious: ious.subarray(0, count), starts };
}

function toBoxes(objects: Objects, rows: Int32Array): LabeledBoxes {
  const boxes = new Float32Array(4 * rows.length);
  const [scores, labels] = [new Float32Array(rows.length), new Uint32Array(rows.length)];
  for (let index = 0; index < rows.length; index++) {
    const row = rows[index] as number;
    for (let axis = 0; axis < 2; axis++) {
      const start = objects.boxes[4 * row + axis] as number;
      boxes[4 * index + axis] = start;
      boxes[4 * index + 2 + axis] = start + (objects.boxes[4 * row + 2 + axis] as number);
    }
    scores[index] = objects.scores[row] as number;
    labels[index] = objects.labels[row] as number;
  }
  return { boxes, scores, labels };
}

/** The classes are labels until the categories have names. */
function fillObjects(pairs: Pairs, left: Objects, right: Objects): ObjectColumns {
  const count = pairs.left.length;
  const columns = newObjectColumns(count);
  for (let at = 0; at < count; at++) {
    const [one, other] = [pairs.left[at] as number, pairs.right[at] as number];
    const [side, row] = one < 0 ? [right, other] : [left, one];
    if (one >= 0) putSide(columns.left, at, left, one);
    if (other >= 0) putSide(columns.right, at, right, other);
    const iou = pairs.ious[at] as number;
    columns.kinds[at] = OBJECT_KINDS.indexOf(kindOf(columns, at, { one, other, iou }));
    columns.classes[at] = side.labels[row] as number;
    columns.ious[at] = iou;
    columns.areas[at] = (side.boxes[4 * row + 2] as number) * (side.boxes[4 * row + 3] as number);
    columns.scores[at] = Math.max(one < 0 ? 0 : rankScore(left, one), other < 0 ? 0 : rankScore(right, other));
  }
  return columns;
}

interface Pair {
  readonly one: number;
  readonly other: number;
  readonly iou: number;
}

function kindOf({ left, right }: ObjectColumns, at: number, { one, other, iou }: Pair): ObjectKind {
  if (other < 0) return 'lost';
  if (one < 0) return 'found';
  const change = (a: number | undefined, b: number | undefined): number => Math.abs((a ?? 0) - (b ?? 0));
  const maskScore = ({ maskScores }: SideColumns): number => (Number.isNaN(maskScores[at]) ? 0 : (maskScores[at] as number));
  const most = Math.max(change(left.scores[at], right.scores[at]), change(maskScore(left), maskScore(right)));
  return most > MOST_SCORE_CHANGE || iou < LEAST_EQUAL_IOU ? 'changed' : 'equal';
}

function rankScore({ scores }: Objects, row: number): number {
  const score = scores[row] as number;
  return Number.isNaN(score) ? 0 : score;
}

function putSide(columns: SideColumns, at: number, side: Objects, row: number): void {
  columns.scores[at] = side.scores[row] as number;
  columns.maskScores[at] = side.maskScores[row] as number;
  for (let i = 0; i < 4; i++) columns.boxes[4 * at + i] = side.boxes[4 * row + i] as number;
}

interface ShownTruth {
  readonly truth: TruthColumns;
  readonly truthStarts: Uint32Array;
  /** Rows of the data set's annotations. */
  readonly truthRows: Int32Array;
}

function fillTruth(shown: readonly number[], truths: Grouped): ShownTruth {
  const truthStarts = new Uint32Array(shown.length + 1);
  for (const [index, image] of shown.entries()) truthStarts[index + 1] = (truthStarts[index] as number) + sizeOf(truths, image);
  const truthRows = new Int32Array(truthStarts[shown.length] as number);
  for (const [index, image] of shown.entries()) truthRows.set(rowsOf(truths, image), truthStarts[index]);
  const truth = newTruthColumns(truthRows.length);
  const { labels, boxes, crowds } = truths.objects;
  for (const [at, row] of truthRows.entries()) {
    truth.classes[at] = labels[row] as number;
    truth.crowds[at] = crowds[row] as number;
    for (let i = 0; i < 4; i++) truth.boxes[4 * at + i] = boxes[4 * row + i] as number;
  }
  return { truth, truthStarts, truthRows };
}

function countKinds({ kinds }: ObjectColumns): MatchResult['totals'] {
  const counts = OBJECT_KINDS.map(() => 0);
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return Object.fromEntries(OBJECT_KINDS.map((kind, index) => [kind, counts[index] ?? 0])) as MatchResult['totals'];
}

/** Replaces the labels in the columns by indexes of categories: first those of the data set, then others in the order of the objects. Ids of equal text are one. */
function nameCategories(
  { objects, truth }: Pick<MatchResult, 'objects' | 'truth'>,
  { categories, labels }: Dataset,
): MatchResult['categories'] {
  const names = new Map(categories.map(({ id, name }) => [String(id), name]));
  const places = new Map([...names.keys()].map((id, index) => [id, index]));
  const ids: CocoId[] = [...labels.keys()];
  const classes = new Int32Array(ids.length).fill(-1);
  const classOf = (label: number): number => {
    const known = classes[label] as number;
    if (known >= 0) return known;
    const id = String(ids[label]);
    const index = places.get(id) ?? places.size;
    places.set(id, index);
    if (!names.has(id)) names.set(id, `class ${id}`);
    classes[label] = index;
    return index;
  };
  for (const column of [objects.classes, truth.classes])
    for (let at = 0; at < column.length; at++) column[at] = classOf(column[at] as number);
  return [...names].map(([id, name]) => ({ id, name }));
}
