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
  const dataset = parseCocoDataset(parseBytes(annotations), ignoreOddity, leaveSegmentation);
  const sides = [left, right].map(side => groupByImage(parseCocoResults(parseBytes(side), dataset, ignoreOddity, leaveSegmentation)));
  const truth = groupByImage(dataset.annotations);
  const shown = sides.every(({ size }) => size === 0)
    ? dataset.images
    : dataset.images.filter(({ id }) => sides.some(side => side.has(id)));
  const images = shown.map((image): MatchedImage => {
    const [own = [], other = []] = sides.map(side => side.get(image.id) ?? []);
    return { image, objects: matchImage(own, other), truth: truth.get(image.id) ?? [] };
  });
  return { result: columnsOf(images, dataset), images };
}

function parseBytes(bytes: ArrayBuffer): Json {
  return parsePythonJson(new TextDecoder().decode(bytes));
}

function matchImage(left: readonly CocoResult[], right: readonly CocoResult[]): readonly MatchedPair[] {
  const labels = [...new Set([...left, ...right].map(({ categoryId }) => categoryId))];
  const { pairs, missed, extra } = matchDetections(toBoxes(left, labels), toBoxes(right, labels), LEAST_IOU);
  const partners = pairs.map(({ reference, candidate, iou }): MatchedPair => {
    const [one, other] = [left[reference], right[candidate]];
    const change = Math.abs((one?.score ?? 0) - (other?.score ?? 0));
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

function toBoxes(objects: readonly CocoResult[], labels: readonly CocoId[]): LabeledBoxes {
  const boxes = new Float32Array(4 * objects.length);
  for (const [index, { box: [x, y, width, height] = NO_BOX }] of objects.entries()) boxes.set([x, y, x + width, y + height], 4 * index);
  return {
    boxes,
    scores: Float32Array.from(objects, ({ score }) => score),
    labels: objects.map(({ categoryId }) => labels.indexOf(categoryId)),
  };
}

function columnsOf(images: readonly MatchedImage[], dataset: CocoDataset): MatchResult {
  const categories = listCategories(images, dataset);
  const classOf = new Map(categories.map(({ id }, index) => [id, index]));
  const objectStarts = startsOf(images.map(image => image.objects.length));
  const truthStarts = startsOf(images.map(image => image.truth.length));
  const objects = newObjectColumns(objectStarts.at(-1) ?? 0);
  const truth = newTruthColumns(truthStarts.at(-1) ?? 0);
  const totals = { equal: 0, changed: 0, lost: 0, found: 0 };
  let hasMasks = false;
  for (const [index, image] of images.entries()) {
    for (const [at, pair] of image.objects.entries()) {
      const category = String((pair.left ?? pair.right)?.categoryId);
      putObject(objects, (objectStarts[index] ?? 0) + at, pair, classOf.get(category) ?? 0);
      totals[pair.kind] += 1;
      hasMasks ||= [pair.left, pair.right].some(side => side?.segmentation !== undefined);
    }
    for (const [at, one] of image.truth.entries()) {
      putTruth(truth, (truthStarts[index] ?? 0) + at, one, classOf.get(String(one.categoryId)) ?? 0);
      hasMasks ||= one.segmentation !== undefined;
    }
  }
  const shown = images.map(({ image: { id, fileName = '', width, height } }) => ({ id: String(id), file: fileName, width, height }));
  return { images: shown, objectStarts, truthStarts, objects, truth, categories, totals, hasMasks };
}

function listCategories(images: readonly MatchedImage[], { categories }: CocoDataset): MatchResult['categories'] {
  const known = new Map(categories.map(({ id, name }) => [String(id), name]));
  for (const { objects, truth } of images) {
    for (const one of [...objects.map(({ left, right }) => left ?? right), ...truth]) {
      const id = String(one?.categoryId);
      if (!known.has(id)) known.set(id, `class ${id}`);
    }
  }
  return [...known].map(([id, name]) => ({ id, name }));
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
  columns.scores[at] = Math.max(...[left, right].map(side => (side === undefined || Number.isNaN(side.score) ? 0 : side.score)));
}

function putSide(columns: SideColumns, at: number, side: CocoResult | undefined): void {
  if (side === undefined) return;
  columns.scores[at] = side.score;
  columns.boxes.set(side.box ?? NO_BOX, 4 * at);
}

function putTruth(columns: TruthColumns, at: number, { box = NO_BOX, kind }: CocoAnnotation, category: number): void {
  columns.classes[at] = category;
  columns.boxes.set(box, 4 * at);
  columns.crowds[at] = kind === 'crowd' ? 1 : 0;
}
