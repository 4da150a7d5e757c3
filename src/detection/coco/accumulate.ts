/** Precision-recall curves of one category, over all images. */
import { type CategoryJudgment, FALSE_POSITIVE, type RangeJudgment, TRUE_POSITIVE } from './matching.js';
import type { CocoParams } from './params.js';
import { compareScores } from './results.js';

/** The curves of one category and area range. */
export interface Curves {
  /** Row-major [IoU thresholds, recall thresholds], at the largest of `maxDetections`. */
  readonly precision: Float64Array;
  /** Shaped as `precision`: the score at which the recall is reached; 0 where it is not reached. */
  readonly scores: Float64Array;
  /** Per entry of `maxDetections`, the final recall per IoU threshold. */
  readonly recall: readonly Float64Array[];
}

/** Machine epsilon, which pycocotools adds to a denominator that could be 0. */
const TINY = Number.EPSILON;

/** The curves per area range; undefined where the range has no object, and so no figure. */
export function drawCurves(judgment: CategoryJudgment, params: CocoParams): readonly (Curves | undefined)[] {
  const order = orderByScore(judgment, Math.max(...params.maxDetections));
  return judgment.ranges.map(range => {
    if (range.wanted === 0) return undefined;
    return {
      ...drawRange(judgment, range, order, params),
      recall: params.maxDetections.map(most => findRecall(judgment, range, most, params.iouThresholds.length)),
    };
  });
}

/** The counted detections by falling score; equal scores in the order of their images. */
function orderByScore({ scores, places }: CategoryJudgment, maxDetections: number): Uint32Array {
  const order = Uint32Array.from(scores.keys()).filter(index => (places[index] as number) < maxDetections);
  return order.sort((a, b) => compareScores(scores[a] as number, scores[b] as number));
}

function drawRange(judgment: CategoryJudgment, range: RangeJudgment, order: Uint32Array, params: CocoParams): Omit<Curves, 'recall'> {
  const [thresholds, points] = [params.iouThresholds.length, params.recallThresholds.length];
  const curves = { precision: new Float64Array(thresholds * points), scores: new Float64Array(thresholds * points) };
  const steps: Steps = { precision: new Float64Array(order.length), recall: new Float64Array(order.length) };
  const count = judgment.scores.length;
  for (let t = 0; t < thresholds; t++) {
    walk(steps, order, range.outcomes.subarray(t * count, (t + 1) * count), range.wanted);
    let step = 0;
    // Both lists ascend, so one pass is sufficient.
    params.recallThresholds.forEach((threshold, i) => {
      while (step < order.length && (steps.recall[step] as number) < threshold) step++;
      if (step >= order.length) return;
      curves.precision[t * points + i] = steps.precision[step] as number;
      curves.scores[t * points + i] = judgment.scores[order[step] as number] as number;
    });
  }
  return curves;
}

interface Steps {
  readonly precision: Float64Array;
  readonly recall: Float64Array;
}

/** Computes precision and recall after each detection. Precision is then made monotonic: each value is at least as large as all later ones. */
function walk({ precision, recall }: Steps, order: Uint32Array, outcomes: Uint8Array, wanted: number): void {
  let found = 0;
  let wrong = 0;
  for (let i = 0; i < order.length; i++) {
    const outcome = outcomes[order[i] as number];
    if (outcome === TRUE_POSITIVE) found++;
    else if (outcome === FALSE_POSITIVE) wrong++;
    recall[i] = found / wanted;
    precision[i] = found / (wrong + found + TINY);
  }
  for (let i = order.length - 1; i > 0; i--)
    if ((precision[i] as number) > (precision[i - 1] as number)) precision[i - 1] = precision[i] as number;
}

/** Recall of the best `most` detections of each image, per IoU threshold. */
function findRecall({ places }: CategoryJudgment, { outcomes, wanted }: RangeJudgment, most: number, thresholds: number): Float64Array {
  const recall = new Float64Array(thresholds);
  for (let t = 0; t < thresholds; t++) {
    let found = 0;
    for (let d = 0; d < places.length; d++) if (outcomes[t * places.length + d] === TRUE_POSITIVE && (places[d] as number) < most) found++;
    recall[t] = found / wanted;
  }
  return recall;
}
