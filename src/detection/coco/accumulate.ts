/** What precision is reached at each recall, over all images of a category? */
import { FALSE_POSITIVE, type Judgement, TRUE_POSITIVE } from './matching.js';

/** One image's judgement with the scores of its detections, best first. */
export interface ScoredJudgement extends Judgement {
  readonly scores: Float64Array;
}

/** The curve of one category, area range and number of detections. */
export interface Curve {
  /** Row-major [IoU thresholds, recall thresholds]. */
  readonly precision: Float64Array;
  /** The recall reached in the end, per IoU threshold. */
  readonly recall: Float64Array;
}

export interface CurveOptions {
  readonly maxDetections: number;
  readonly thresholds: number;
  readonly recallThresholds: readonly number[];
}

/** The difference of 1 and the next number: pycocotools adds it to a denominator that could be 0. */
const TINY = Number.EPSILON;

/** The curve over all images, or undefined where no object should have been found: such a category has no figure. */
export function drawCurve(judgements: readonly ScoredJudgement[], options: CurveOptions): Curve | undefined {
  const wanted = judgements.reduce((sum, judgement) => sum + judgement.wanted, 0);
  if (wanted === 0) return undefined;
  const order = orderByScore(judgements, options.maxDetections);
  const points = options.recallThresholds.length;
  const precision = new Float64Array(options.thresholds * points);
  const recall = new Float64Array(options.thresholds);
  for (let t = 0; t < options.thresholds; t++) {
    const steps = walk(order, judgements, t, wanted);
    recall[t] = steps.recall[order.length - 1] ?? 0;
    samplePrecision(precision.subarray(t * points, (t + 1) * points), steps, options.recallThresholds);
  }
  return { precision, recall };
}

interface Place {
  readonly image: number;
  readonly detection: number;
  readonly score: number;
}

/** All counted detections of all images by descending score; of equal ones those of earlier images first. */
function orderByScore(judgements: readonly ScoredJudgement[], maxDetections: number): Place[] {
  const places: Place[] = [];
  judgements.forEach(({ scores }, image) => {
    const count = Math.min(scores.length, maxDetections);
    for (let detection = 0; detection < count; detection++) places.push({ image, detection, score: scores[detection] as number });
  });
  return places.sort((a, b) => b.score - a.score);
}

interface Steps {
  readonly precision: Float64Array;
  readonly recall: Float64Array;
}

/** Precision and recall after each detection. Precision is then made to fall only: each is at least what any later one is. */
function walk(order: readonly Place[], judgements: readonly ScoredJudgement[], threshold: number, wanted: number): Steps {
  const steps: Steps = { precision: new Float64Array(order.length), recall: new Float64Array(order.length) };
  let [found, wrong] = [0, 0];
  order.forEach(({ image, detection }, i) => {
    const { outcomes, scores } = judgements[image] as ScoredJudgement;
    const outcome = outcomes[threshold * scores.length + detection];
    if (outcome === TRUE_POSITIVE) found++;
    else if (outcome === FALSE_POSITIVE) wrong++;
    steps.recall[i] = found / wanted;
    steps.precision[i] = found / (wrong + found + TINY);
  });
  for (let i = order.length - 1; i > 0; i--)
    steps.precision[i - 1] = Math.max(steps.precision[i - 1] as number, steps.precision[i] as number);
  return steps;
}

/** The precision at the first step that reaches each recall; 0 where none does. Both lists ascend, so one pass is enough. */
function samplePrecision(target: Float64Array, { precision, recall }: Steps, recallThresholds: readonly number[]): void {
  let step = 0;
  recallThresholds.forEach((threshold, i) => {
    while (step < recall.length && (recall[step] as number) < threshold) step++;
    target[i] = precision[step] ?? 0;
  });
}
