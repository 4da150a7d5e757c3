/** Matches the detections of two detectors by class and box IoU, independent of their order. */
import { type Boxes, boxAreas, boxIou } from '../geometry/boxes.js';
import { sortByScore } from '../geometry/top-k.js';

/** Detections of one image. */
export interface LabeledBoxes {
  readonly boxes: Boxes;
  readonly scores: Float32Array;
  /** Class of each detection. */
  readonly labels: ArrayLike<number>;
}

/** Matched pairs and unmatched detections, as indices. */
export interface Matching {
  /** By falling score of the reference. */
  readonly pairs: readonly { readonly reference: number; readonly candidate: number; readonly iou: number }[];
  /** Unmatched references, by falling score. */
  readonly missed: readonly number[];
  /** Unmatched candidates, in their order. */
  readonly extra: readonly number[];
}

/**
 * Greedy matching: each reference, by falling score, matches the free candidate of its class with the largest IoU of at least `minIou`; of equal IoUs
 * the first.
 */
export function matchDetections(reference: LabeledBoxes, candidate: LabeledBoxes, minIou: number): Matching {
  const [areas, otherAreas] = [boxAreas(reference.boxes), boxAreas(candidate.boxes)];
  const count = otherAreas.length;
  const taken = new Uint8Array(count);
  const pairs: Matching['pairs'][number][] = [];
  const missed: number[] = [];
  for (const index of sortByScore(reference.scores)) {
    let best = -1;
    let bestIou = minIou;
    for (let other = 0; other < count; other++) {
      if (taken[other] === 1 || candidate.labels[other] !== reference.labels[index]) continue;
      const iou = boxIou(reference.boxes, areas[index] ?? 0, index, candidate.boxes, otherAreas[other] ?? 0, other);
      if (iou > bestIou || (iou === bestIou && best < 0)) [best, bestIou] = [other, iou];
    }
    if (best < 0) missed.push(index);
    else {
      pairs.push({ reference: index, candidate: best, iou: bestIou });
      taken[best] = 1;
    }
  }
  const extra = Array.from(taken.keys()).filter(other => taken[other] === 0);
  return { pairs, missed, extra };
}
