/** Precision-recall curves and kinds of error of both sides, from the detections themselves. */
import { parsePythonJson } from '../../../base/json/python-json.js';
import type { Json } from '../../../base/json.js';
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
}

/** Of boxes. */
export interface Judgment {
  readonly curves: PrecisionRecallCurves;
  readonly errors: ErrorSplit;
}

/** @throws DetectionError as `parseCocoDataset` and `parseCocoResults`; SyntaxError where a file is not JSON. */
export function judgeResults({ sides, annotations }: JudgeOrder): readonly Judgment[] {
  const whole = parseCocoDataset(parseBytes(annotations), ignoreOddity, leaveSegmentation);
  return sides.map(({ detections, images }) => {
    const dataset = takeFirst(whole, images);
    const results = parseCocoResults(parseBytes(detections), whole, ignoreOddity, leaveSegmentation);
    return { curves: listCurves(measureCoco(dataset, results, 'bbox')), errors: splitErrors(dataset, results, 'bbox') };
  });
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
