/** Which detections of two detectors are the same object? Partners are found by class and box IoU, never by their place in a list. */
import { type Boxes, boxAreas, boxIou } from '../geometry/boxes.js';
import { sortByScore } from '../geometry/top-k.js';

/** Detections of one image. */
export interface LabelledBoxes {
  readonly boxes: Boxes;
  readonly scores: Float32Array;
  /** Class per detection. */
  readonly labels: ArrayLike<number>;
}

/** Indices into the two sets of detections. */
export interface Matching {
  /** By falling score of the reference. */
  readonly pairs: readonly { readonly reference: number; readonly candidate: number; readonly iou: number }[];
  /** References without a partner, by falling score. */
  readonly missed: readonly number[];
  /** Candidates without a partner, in their order. */
  readonly extra: readonly number[];
}

/**
 * Matches greedily: each reference, by falling score, takes the free candidate of its class with the highest IoU, where that is at least
 * `leastIou`; of equal ones the first.
 */
export function matchDetections(reference: LabelledBoxes, candidate: LabelledBoxes, leastIou: number): Matching {
  const [areas, otherAreas] = [boxAreas(reference.boxes), boxAreas(candidate.boxes)];
  const free = new Set(candidate.scores.keys());
  const pairs: Matching['pairs'][number][] = [];
  const missed: number[] = [];
  for (const index of sortByScore(reference.scores)) {
    let best = { candidate: -1, iou: leastIou };
    for (const other of free) {
      if (candidate.labels[other] !== reference.labels[index]) continue;
      const iou = boxIou(reference.boxes, areas[index] ?? 0, index, candidate.boxes, otherAreas[other] ?? 0, other);
      if (iou > best.iou || (iou === best.iou && best.candidate < 0)) best = { candidate: other, iou };
    }
    if (best.candidate < 0) missed.push(index);
    else pairs.push({ reference: index, ...best });
    free.delete(best.candidate);
  }
  return { pairs, missed, extra: [...free] };
}
