/** Reads detections and ground truth, and matches both sides image by image. */
import { parsePythonJson } from '../../../base/json/python-json.js';
import type { Json } from '../../../base/json.js';
import { type CocoAnnotation, type CocoBox, type CocoImage, parseCocoDataset } from '../../../detection/coco/dataset.js';
import { type CocoResult, parseCocoResults } from '../../../detection/coco/results.js';
import { groupByImage } from '../../../detection/coco/subset.js';
import { type LabeledBoxes, matchDetections } from '../../../detection/compare/match-detections.js';
import type { ImageRow, MatchedObject, MatchOrder, MatchResult, ObjectBox, ResultTotals } from './result-types.js';

/** Box IoU from which on objects of one class are partners. */
const LEAST_IOU = 0.5;

/** A partner is changed if its score or its box moved by more. */
const [MOST_SCORE_CHANGE, LEAST_EQUAL_IOU] = [0.1, 0.8];

/** @throws DetectionError as `parseCocoDataset` and `parseCocoResults`; SyntaxError where a file is not JSON. */
export function matchResults({ left, right, annotations }: MatchOrder): MatchResult {
  const dataset = parseCocoDataset(parseBytes(annotations));
  const sides = [left, right].map(side => groupByImage(parseCocoResults(parseBytes(side), dataset)));
  const truth = groupByImage(dataset.annotations);
  const images = sides.every(({ size }) => size === 0)
    ? dataset.images
    : dataset.images.filter(({ id }) => sides.some(side => side.has(id)));
  const rows = images.map(image => {
    const [own = [], other = []] = sides.map(side => (side.get(image.id) ?? []).map(boxOfResult));
    return matchImage(image, own, other, (truth.get(image.id) ?? []).map(boxOfTruth));
  });
  const categories = Object.fromEntries(dataset.categories.map(({ id, name }) => [String(id), name]));
  return { rows, categories, totals: totalsOf(rows) };
}

function parseBytes(bytes: ArrayBuffer): Json {
  return parsePythonJson(new TextDecoder().decode(bytes));
}

function matchImage(
  { id, fileName = '', width, height }: CocoImage,
  left: readonly ObjectBox[],
  right: readonly ObjectBox[],
  truth: readonly ObjectBox[],
): ImageRow {
  const labels = [...new Set([...left, ...right].map(({ category }) => category))];
  const { pairs, missed, extra } = matchDetections(toBoxes(left, labels), toBoxes(right, labels), LEAST_IOU);
  const partners = pairs.map(({ reference, candidate, iou }): MatchedObject => {
    const [one, other] = [left[reference], right[candidate]];
    const change = Math.abs((one?.score ?? 0) - (other?.score ?? 0));
    return { kind: change > MOST_SCORE_CHANGE || iou < LEAST_EQUAL_IOU ? 'changed' : 'equal', left: one, right: other, iou };
  });
  const objects: readonly MatchedObject[] = [
    ...partners,
    ...missed.map((index): MatchedObject => ({ kind: 'lost', left: left[index], right: undefined })),
    ...extra.map((index): MatchedObject => ({ kind: 'found', left: undefined, right: right[index] })),
  ];
  return { id: String(id), file: fileName, width, height, objects, truth };
}

/** An object without a box, as one with only a mask, is listed and not drawn. */
const NO_BOX: CocoBox = [0, 0, 0, 0];

function boxOfResult({ box = NO_BOX, categoryId, score }: CocoResult): ObjectBox {
  return { box, category: String(categoryId), score, crowd: false };
}

function boxOfTruth({ box = NO_BOX, categoryId, kind }: CocoAnnotation): ObjectBox {
  return { box, category: String(categoryId), score: 1, crowd: kind === 'crowd' };
}

function toBoxes(objects: readonly ObjectBox[], labels: readonly string[]): LabeledBoxes {
  return {
    boxes: Float32Array.from(objects.flatMap(({ box: [x, y, width, height] }) => [x, y, x + width, y + height])),
    scores: Float32Array.from(objects, ({ score }) => score),
    labels: objects.map(({ category }) => labels.indexOf(category)),
  };
}

function totalsOf(rows: readonly ImageRow[]): ResultTotals {
  const totals = { equal: 0, changed: 0, lost: 0, found: 0 };
  for (const { objects } of rows) for (const { kind } of objects) totals[kind] += 1;
  return totals;
}
