/** Pairs the detections of two sides in an image by class and IoU. */
import { numberOf } from '../../src/detection/coco/coco-id.js';
import type { CocoResult } from '../../src/detection/coco/results.js';
import { rasterize } from '../../src/detection/coco/segmentation.js';
import { type LabeledBoxes, matchDetections } from '../../src/detection/compare/match-detections.js';
import type { ImageSize } from '../../src/detection/image/image-size.js';
import { rleBox } from '../../src/detection/masks/rle.js';

/** One object: of both sides, or of one. */
export interface Pair {
  readonly left: CocoResult | undefined;
  readonly right: CocoResult | undefined;
  /** Of the boxes; absent where one side lacks it. */
  readonly iou?: number;
}

/** Box IoU from which on detections of one class are partners. */
const LEAST_IOU = 0.5;

/** By falling score of the left side; then what only the right side has. */
export function pairDetections(left: readonly CocoResult[], right: readonly CocoResult[], image: ImageSize): readonly Pair[] {
  const { pairs, missed, extra } = matchDetections(toBoxes(left, image), toBoxes(right, image), LEAST_IOU);
  const found: readonly Pair[] = [
    ...pairs.map(({ reference, candidate, iou }) => ({ left: left[reference], right: right[candidate], iou })),
    ...missed.map(index => ({ left: left[index], right: undefined })),
  ];
  const byScore = [...found].sort((a, b) => (b.left?.score ?? 0) - (a.left?.score ?? 0));
  return [...byScore, ...extra.map(index => ({ left: undefined, right: right[index] }))];
}

/** 1 for each object that one side lacks; for pairs, the difference of boxes and scores, and of mask scores if there are any. */
export function measureDifference(pairs: readonly Pair[]): number {
  return pairs.reduce((sum, { left, right, iou }) => {
    if (left === undefined || right === undefined) return sum + 1;
    return sum + (1 - (iou ?? 0)) + Math.abs(left.score - right.score) + Math.abs((left.maskScore ?? 0) - (right.maskScore ?? 0));
  }, 0);
}

/** x, y, width, height; of the mask where the detection has no box. */
export function boxOf({ box, segmentation }: CocoResult, image: ImageSize): readonly number[] {
  if (box !== undefined) return box;
  return segmentation === undefined ? [0, 0, 0, 0] : rleBox(rasterize(segmentation, image));
}

function toBoxes(results: readonly CocoResult[], image: ImageSize): LabeledBoxes {
  const corners = results.flatMap(result => {
    const [x = 0, y = 0, width = 0, height = 0] = boxOf(result, image);
    return [x, y, x + width, y + height];
  });
  return {
    boxes: Float32Array.from(corners),
    scores: Float32Array.from(results, ({ score }) => score),
    labels: results.map(({ categoryId }) => numberOf(categoryId)),
  };
}
