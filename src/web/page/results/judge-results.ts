/** Precision-recall curves and kinds of error of both sides, and the objects that changed between them, from the detections themselves. */
import { parsePythonJson } from '../../../base/json/python-json.js';
import type { Json } from '../../../base/json.js';
import { type ChangeList, listChanges } from '../../../detection/coco/change-list.js';
import { CHANGE_RULE } from '../../../detection/coco/changes.js';
import { compareIds } from '../../../detection/coco/coco-id.js';
import { type CocoDataset, parseCocoDataset } from '../../../detection/coco/dataset.js';
import { type ErrorSplit, splitErrors } from '../../../detection/coco/errors.js';
import { measureCoco } from '../../../detection/coco/measure.js';
import { ignoreOddity } from '../../../detection/coco/oddities.js';
import { listCurves, type PrecisionRecallCurves } from '../../../detection/coco/precision-recall.js';
import { parseCocoResults } from '../../../detection/coco/results.js';
import { leaveSegmentation } from '../../../detection/coco/segmentation.js';
import { takeImages } from '../../../detection/coco/subset.js';

export interface JudgeOrder {
  /** COCO results per side, and the COCO data set, as bytes of JSON. */
  readonly sides: readonly { readonly detections: ArrayBuffer; readonly images: number | undefined }[];
  readonly annotations: ArrayBuffer;
  /** How many of the worst changes from the first side to the last are listed; absent: none. */
  readonly changes?: number;
}

export interface Judged {
  readonly judgments: readonly Judgment[];
  readonly changes?: ChangeList;
  /** The first images by id that the changes are of, where one side was evaluated on more of them than the other. */
  readonly common?: number;
}

/** Of boxes. */
export interface Judgment {
  readonly curves: PrecisionRecallCurves;
  readonly errors: ErrorSplit;
}

/** @throws DetectionError as `parseCocoDataset` and `parseCocoResults`; SyntaxError where a file is not JSON. */
export function judgeResults({ sides, annotations, changes }: JudgeOrder): Judged {
  const whole = parseCocoDataset(parseBytes(annotations), ignoreOddity, leaveSegmentation);
  const read = sides.map(({ detections, images }) => ({
    dataset: takeFirst(whole, images),
    results: parseCocoResults(parseBytes(detections), whole, ignoreOddity, leaveSegmentation),
  }));
  const judgments = read.map(({ dataset, results }) => ({
    curves: listCurves(measureCoco(dataset, results, 'bbox')),
    errors: splitErrors(dataset, results, 'bbox'),
  }));
  const [first, last] = [read[0], read.at(-1)];
  if (changes === undefined || first === undefined || last === undefined) return { judgments };
  const rule = { iouType: 'bbox', minScore: CHANGE_RULE.minScore, most: changes } as const;
  // An object in an image that only one side was evaluated on is neither lost nor found.
  const [fewer, more] =
    first.dataset.images.length < last.dataset.images.length ? [first.dataset, last.dataset] : [last.dataset, first.dataset];
  const common = fewer.images.length === more.images.length ? {} : { common: fewer.images.length };
  return { judgments, changes: listChanges(fewer, first.results, last.results, rule), ...common };
}

/** `evaluate` takes the first images by id. @param count undefined: all. */
function takeFirst(dataset: CocoDataset, count: number | undefined): CocoDataset {
  if (count === undefined || count >= dataset.images.length) return dataset;
  const ids = dataset.images.map(({ id }) => id).sort(compareIds);
  return takeImages(dataset, new Set(ids.slice(0, count)));
}

function parseBytes(bytes: ArrayBuffer): Json {
  return parsePythonJson(new TextDecoder().decode(bytes));
}
