/** Evaluates results on a data set: precision-recall curves per category. */
import { type Curves, drawCurves } from './accumulate.js';
import type { CocoCategory, CocoDataset } from './dataset.js';
import { groupByCategoryAndImage } from './group-results.js';
import { judgeCategory } from './matching.js';
import { COCO_PARAMS, type CocoParams, checkCocoParams, type OverlapType } from './params.js';
import type { CocoResult } from './results.js';

export interface CocoEvaluation {
  readonly iouType: OverlapType;
  readonly params: CocoParams;
  /** By ascending id; one for all where categories are merged. */
  readonly categories: readonly EvaluatedCategory[];
}

export interface EvaluatedCategory {
  /** Undefined where categories are merged. */
  readonly category: CocoCategory | undefined;
  /** Number of objects of all sizes, without crowds. */
  readonly objects: number;
  /** Number of evaluated detections. */
  readonly detections: number;
  /** Per area range; undefined where the range has no object. */
  readonly curves: readonly (Curves | undefined)[];
}

/**
 * Evaluates results on a data set. Matching, crowds, size classes and sorting equal those of pycocotools' COCOeval. Results of categories that the data
 * set does not have are ignored, as in pycocotools.
 * @throws DetectionError `coco-params`, `coco-no-region`.
 * @see Lin et al., Microsoft COCO; cocodataset.org, detection evaluation.
 */
export function measureCoco(
  dataset: CocoDataset,
  results: readonly CocoResult[],
  iouType: OverlapType,
  params: CocoParams = COCO_PARAMS,
): CocoEvaluation {
  checkCocoParams(params);
  const all = params.areaRanges.findIndex(({ label }) => label === 'all');
  const categories = Array.from(groupByCategoryAndImage(dataset, results, iouType, params), ({ category, images }) => {
    const judgment = judgeCategory(images, params.areaRanges, params.iouThresholds);
    return {
      category,
      objects: judgment.ranges[all]?.wanted ?? 0,
      detections: judgment.scores.length,
      curves: drawCurves(judgment, params),
    };
  });
  return { iouType, params, categories };
}
