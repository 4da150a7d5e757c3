/** The twelve COCO figures of a detector's results, equal to those of pycocotools. */
import type { Curves } from './accumulate.js';
import type { CocoDataset } from './dataset.js';
import type { CocoFigureName } from './figure-names.js';
import { type CocoEvaluation, type EvaluatedCategory, measureCoco } from './measure.js';
import { type AreaRange, COCO_PARAMS, type CocoParams, type IouType, KEYPOINT_PARAMS } from './params.js';
import type { CocoResult } from './results.js';

/** Average precision and recall in 0…1; −1 where there is no object. */
export type CocoFigures = { readonly [Name in CocoFigureName]: number };

/** Measures and summarizes over all categories. @throws as `measureCoco`. */
export function evaluateCoco(
  dataset: CocoDataset,
  results: readonly CocoResult[],
  iouType: IouType,
  params: CocoParams = COCO_PARAMS,
): CocoFigures {
  const evaluation = measureCoco(dataset, results, iouType, params);
  return summarize(evaluation, evaluation.categories);
}

/**
 * Means over categories, IoU thresholds and recalls. AR1, AR10 and AR100 use the three entries of `maxDetections`, whatever their values; the other
 * figures use the third.
 */
export function summarize({ params }: Pick<CocoEvaluation, 'params'>, categories: readonly EvaluatedCategory[]): CocoFigures {
  const pick = (label: AreaRange['label']): Curves[] => {
    const range = params.areaRanges.findIndex(one => one.label === label);
    return categories.flatMap(({ curves }) => curves[range] ?? []);
  };
  const points = params.recallThresholds.length;
  const precision = (label: AreaRange['label']) => mean(pick(label).map(curves => curves.precision));
  const precisionAt = (iou: number) => {
    const threshold = params.iouThresholds.indexOf(iou);
    if (threshold < 0) return -1;
    return mean(pick('all').map(curves => curves.precision.subarray(threshold * points, (threshold + 1) * points)));
  };
  const recall = (label: AreaRange['label'], count: number) => mean(pick(label).map(curves => curves.recall[count] ?? new Float64Array(0)));
  return {
    AP: precision('all'),
    AP50: precisionAt(0.5),
    AP75: precisionAt(0.75),
    APsmall: precision('small'),
    APmedium: precision('medium'),
    APlarge: precision('large'),
    AR1: recall('all', 0),
    AR10: recall('all', 1),
    AR100: recall('all', 2),
    ARsmall: recall('small', 2),
    ARmedium: recall('medium', 2),
    ARlarge: recall('large', 2),
  };
}

/** The ten figures of keypoints, as pycocotools names and orders them. */
export const KEYPOINT_FIGURE_NAMES = ['AP', 'AP50', 'AP75', 'APmedium', 'APlarge', 'AR', 'AR50', 'AR75', 'ARmedium', 'ARlarge'] as const;
export type KeypointFigures = { readonly [Name in (typeof KEYPOINT_FIGURE_NAMES)[number]]: number };

/** Measures keypoints and summarizes over all categories. @throws as `measureCoco`. */
export function evaluateKeypoints(dataset: CocoDataset, results: readonly CocoResult[]): KeypointFigures {
  const evaluation = measureCoco(dataset, results, 'keypoints', KEYPOINT_PARAMS);
  return summarizeKeypoints(evaluation, evaluation.categories);
}

/** The figures of keypoints, at the largest of `maxDetections`. Average precision and recall in 0…1; −1 where there is no object. */
export function summarizeKeypoints(evaluation: Pick<CocoEvaluation, 'params'>, categories: readonly EvaluatedCategory[]): KeypointFigures {
  const { AP, AP50, AP75, APmedium, APlarge, AR100, ARmedium, ARlarge } = summarize(evaluation, categories);
  const { areaRanges, iouThresholds } = evaluation.params;
  const all = areaRanges.findIndex(({ label }) => label === 'all');
  const recallAt = (similarity: number): number => {
    const threshold = iouThresholds.indexOf(similarity);
    if (threshold < 0) return -1;
    return mean(categories.flatMap(({ curves }) => curves[all]?.recall[2]?.subarray(threshold, threshold + 1) ?? []));
  };
  return { AP, AP50, AP75, APmedium, APlarge, AR: AR100, AR50: recallAt(0.5), AR75: recallAt(0.75), ARmedium, ARlarge };
}

function mean(lists: readonly Float64Array[]): number {
  let sum = 0;
  let count = 0;
  for (const list of lists) {
    for (const value of list) sum += value;
    count += list.length;
  }
  return count === 0 ? -1 : sum / count;
}
