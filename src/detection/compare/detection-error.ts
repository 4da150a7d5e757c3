/** How far the detections of one detector are from those of another, as one number that changes with every box and score. */
import { type LabeledBoxes, matchDetections } from './match-detections.js';

export interface DetectionError {
  /** Sum over objects; 0 for equal detections. */
  readonly error: number;
  /** What missing all objects of the reference would cost. */
  readonly signal: number;
}

/** Objects are partners from this box IoU on. */
const MIN_IOU = 0.5;

/**
 * A pair costs (s − t)² + s²·(1 − IoU)² with the scores s of the reference and t of the candidate; an object without a partner costs the square of its
 * score. So an object counts as much as its score, and a low score threshold of the detectors takes more of them into account.
 */
export function measureDetectionError(reference: LabeledBoxes, candidate: LabeledBoxes): DetectionError {
  const { pairs, missed, extra } = matchDetections(reference, candidate, MIN_IOU);
  const own = (index: number): number => reference.scores[index] ?? 0;
  const other = (index: number): number => candidate.scores[index] ?? 0;
  const paired = pairs.map(pair => (own(pair.reference) - other(pair.candidate)) ** 2 + (own(pair.reference) * (1 - pair.iou)) ** 2);
  const lone = [...missed.map(own), ...extra.map(other)].map(score => score ** 2);
  return {
    error: [...paired, ...lone].reduce((sum, cost) => sum + cost, 0),
    signal: reference.scores.reduce((sum, score) => sum + score ** 2, 0),
  };
}
