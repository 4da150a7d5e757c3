/** Reads detections and ground truth, and matches both sides image by image. */
import { parsePythonJson } from '../../../base/json/python-json.js';
import type { Json } from '../../../base/json.js';
import type { CocoId } from '../../../detection/coco/coco-id.js';
import { type CocoAnnotation, type CocoBox, type CocoDataset, type CocoImage, parseCocoDataset } from '../../../detection/coco/dataset.js';
import { ignoreOddity } from '../../../detection/coco/oddities.js';
import { type CocoResult, parseCocoResults } from '../../../detection/coco/results.js';
import { leaveSegmentation } from '../../../detection/coco/segmentation.js';
import { groupByImage } from '../../../detection/coco/subset.js';
import { type LabeledBoxes, matchDetections } from '../../../detection/compare/match-detections.js';
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

/** A pair, or an object of one side. */
interface MatchedPair {
  readonly kind: ObjectKind;
  readonly left: CocoResult | undefined;
  readonly right: CocoResult | undefined;
  readonly iou: number;
}

/** What the files hold of one image, in the order of the columns. */
export interface MatchedImage {
  readonly image: CocoImage;
  readonly objects: readonly MatchedPair[];
  readonly truth: readonly CocoAnnotation[];
}

export interface Matched {
  readonly result: MatchResult;
  readonly images: readonly MatchedImage[];
}

/** @throws DetectionError as `parseCocoDataset` and `parseCocoResults`; SyntaxError where a file is not JSON. */
export function matchResults({ left, right, annotations }: MatchOrder): Matched {
  const dataset = readDataset(annotations);
  return matchSides(dataset, [readDetections(left, dataset), readDetections(right, dataset)]);
}

/** @throws DetectionError as `parseCocoDataset`; SyntaxError where the file is not JSON. */
export function readDataset(bytes: ArrayBuffer): CocoDataset {
  return parseCocoDataset(parseBytes(bytes), ignoreOddity, leaveSegmentation);
}

/** @throws DetectionError as `parseCocoResults`; SyntaxError where the file is not JSON. */
export function readDetections(bytes: ArrayBuffer, dataset: CocoDataset): readonly CocoResult[] {
  return parseCocoResults(parseBytes(bytes), dataset, ignoreOddity, leaveSegmentation);
}

function parseBytes(bytes: ArrayBuffer): Json {
  return parsePythonJson(new TextDecoder().decode(bytes));
}

/** @param results of both sides. */
export function matchSides(dataset: CocoDataset, results: readonly (readonly CocoResult[])[]): Matched {
  const sides = results.map(groupByImage<CocoResult>);
  const labels = labelsOf(results);
  const truth = groupByImage(dataset.annotations);
  const shown = sides.every(({ size }) => size === 0)
    ? dataset.images
    : dataset.images.filter(({ id }) => sides.some(side => side.has(id)));
  const images = shown.map((image): MatchedImage => {
    const [own = [], other = []] = sides.map(side => side.get(image.id) ?? []);
    return { image, objects: matchImage(own, other, labels), truth: truth.get(image.id) ?? [] };
  });
  return { result: columnsOf(images, dataset), images };
}

/** A number for each class that a result has. */
function labelsOf(results: readonly (readonly CocoResult[])[]): ReadonlyMap<CocoId, number> {
  const labels = new Map<CocoId, number>();
  for (const side of results) for (const { categoryId } of side) if (!labels.has(categoryId)) labels.set(categoryId, labels.size);
  return labels;
}

function matchImage(
  left: readonly CocoResult[],
  right: readonly CocoResult[],
  labels: ReadonlyMap<CocoId, number>,
): readonly MatchedPair[] {
  const { pairs, missed, extra } = matchDetections(toBoxes(left, labels), toBoxes(right, labels), LEAST_IOU);
  const partners = pairs.map(({ reference, candidate, iou }): MatchedPair => {
    const [one, other] = [left[reference], right[candidate]];
    const change = Math.max(Math.abs((one?.score ?? 0) - (other?.score ?? 0)), Math.abs((one?.maskScore ?? 0) - (other?.maskScore ?? 0)));
    return { kind: change > MOST_SCORE_CHANGE || iou < LEAST_EQUAL_IOU ? 'changed' : 'equal', left: one, right: other, iou };
  });
  return [
    ...partners,
    ...missed.map((index): MatchedPair => ({ kind: 'lost', left: left[index], right: undefined, iou: Number.NaN })),
    ...extra.map((index): MatchedPair => ({ kind: 'found', left: undefined, right: right[index], iou: Number.NaN })),
  ];
}

/** An object without a box, as one with only a mask, is listed and not drawn. */
const NO_BOX: CocoBox = [0, 0, 0, 0];

function toBoxes(objects: readonly CocoResult[], labels: ReadonlyMap<CocoId, number>): LabeledBoxes {
  const boxes = new Float32Array(4 * objects.length);
  const scores = new Float32Array(objects.length);
  const own = new Uint32Array(objects.length);
  for (let index = 0; index < objects.length; index++) {
    const { box: [x, y, width, height] = NO_BOX, score, categoryId } = objects[index] as CocoResult;
    const at = 4 * index;
    boxes[at] = x;
    boxes[at + 1] = y;
    boxes[at + 2] = x + width;
    boxes[at + 3] = y + height;
    scores[index] = score;
    own[index] = labels.get(categoryId) ?? 0;
  }
  return { boxes, scores, labels: own };
}

function columnsOf(images: readonly MatchedImage[], dataset: CocoDataset): MatchResult {
  const categories = listCategories(images, dataset);
  const classOf = classIndexes(categories);
  const objectStarts = startsOf(images.map(image => image.objects.length));
  const truthStarts = startsOf(images.map(image => image.truth.length));
  const objects = newObjectColumns(objectStarts.at(-1) ?? 0);
  const truth = newTruthColumns(truthStarts.at(-1) ?? 0);
  const totals = { equal: 0, changed: 0, lost: 0, found: 0 };
  let hasMasks = false;
  for (const [index, image] of images.entries()) {
    for (const [at, pair] of image.objects.entries()) {
      const { left, right, kind } = pair;
      putObject(objects, (objectStarts[index] ?? 0) + at, pair, classOf((left ?? right)?.categoryId));
      totals[kind] += 1;
      hasMasks ||= left?.segmentation !== undefined || right?.segmentation !== undefined;
    }
    for (const [at, one] of image.truth.entries()) {
      putTruth(truth, (truthStarts[index] ?? 0) + at, one, classOf(one.categoryId));
      hasMasks ||= one.segmentation !== undefined;
    }
  }
  return { images: images.map(({ image }) => listedImage(image)), objectStarts, truthStarts, objects, truth, categories, totals, hasMasks };
}

export function listedImage({ id, fileName = '', width, height }: CocoImage): ListedImage {
  return { id: String(id), file: fileName, width, height };
}

function listCategories(images: readonly MatchedImage[], { categories }: CocoDataset): MatchResult['categories'] {
  const known = new Map(categories.map(({ id, name }) => [String(id), name]));
  const seen = new Set<CocoId | undefined>();
  const add = (id: CocoId | undefined): void => {
    if (seen.has(id)) return;
    seen.add(id);
    if (!known.has(String(id))) known.set(String(id), `class ${id}`);
  };
  for (const { objects, truth } of images) {
    for (const { left, right } of objects) add((left ?? right)?.categoryId);
    for (const { categoryId } of truth) add(categoryId);
  }
  return [...known].map(([id, name]) => ({ id, name }));
}

/** The index of a class by its id in the file; its text is made once per class. */
function classIndexes(categories: MatchResult['categories']): (id: CocoId | undefined) => number {
  const byText = new Map(categories.map(({ id }, index) => [id, index]));
  const byId = new Map<CocoId | undefined, number>();
  return id => {
    const known = byId.get(id);
    if (known !== undefined) return known;
    const index = byText.get(String(id)) ?? 0;
    byId.set(id, index);
    return index;
  };
}

function startsOf(counts: readonly number[]): Uint32Array {
  const starts = new Uint32Array(counts.length + 1);
  for (const [index, count] of counts.entries()) starts[index + 1] = (starts[index] ?? 0) + count;
  return starts;
}

function putObject(columns: ObjectColumns, at: number, { kind, left, right, iou }: MatchedPair, category: number): void {
  columns.kinds[at] = OBJECT_KINDS.indexOf(kind);
  columns.classes[at] = category;
  putSide(columns.left, at, left);
  putSide(columns.right, at, right);
  columns.ious[at] = iou;
  const [, , width, height] = (left ?? right)?.box ?? NO_BOX;
  columns.areas[at] = width * height;
  columns.scores[at] = Math.max(rankScore(left), rankScore(right));
}

function rankScore(side: CocoResult | undefined): number {
  return side === undefined || Number.isNaN(side.score) ? 0 : side.score;
}

function putSide(columns: SideColumns, at: number, side: CocoResult | undefined): void {
  if (side === undefined) return;
  columns.scores[at] = side.score;
  columns.maskScores[at] = side.maskScore ?? Number.NaN;
  putBox(columns.boxes, at, side.box);
}

function putBox(boxes: Float64Array, at: number, [x, y, width, height]: CocoBox = NO_BOX): void {
  boxes[4 * at] = x;
  boxes[4 * at + 1] = y;
  boxes[4 * at + 2] = width;
  boxes[4 * at + 3] = height;
}

function putTruth(columns: TruthColumns, at: number, { box, kind }: CocoAnnotation, category: number): void {
  columns.classes[at] = category;
  putBox(columns.boxes, at, box);
  columns.crowds[at] = kind === 'crowd' ? 1 : 0;
}
