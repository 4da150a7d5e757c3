/** What do a detector's results reach on a data set? Curves of precision and recall, category by category. */
import { type Curves, drawCurves } from './accumulate.js';
import type { CocoCategory, CocoDataset } from './dataset.js';
import { gatherEncounters } from './encounters.js';
import { judgeCategory } from './matching.js';
import { COCO_PARAMS, type CocoParams, checkCocoParams, type IouType } from './params.js';
import type { CocoResult } from './results.js';

/** What there is to say of a detector's results, category by category. */
export interface CocoEvaluation {
  readonly iouType: IouType;
  readonly params: CocoParams;
  /** By ascending id; one for all where categories are merged. */
  readonly categories: readonly EvaluatedCategory[];
}

export interface EvaluatedCategory {
  /** Undefined where categories are merged. */
  readonly category: CocoCategory | undefined;
  /** Objects that should have been found, of all sizes; crowds are none. */
  readonly objects: number;
  /** Detections that were looked at. */
  readonly detections: number;
  /** Per area range; undefined where no object is in it. */
  readonly curves: readonly (Curves | undefined)[];
}

/**
 * Evaluates results on a data set: matching, crowds, size classes and orders as pycocotools' COCOeval.
 *
 * Results of categories that the data set lacks are left out, as pycocotools leaves them out.
 * @throws DetectionError `coco-params`, `coco-no-region`.
 * @see Lin et al., Microsoft COCO; cocodataset.org, detection evaluation.
 */
export function measureCoco(
  dataset: CocoDataset,
  results: readonly CocoResult[],
  iouType: IouType,
  params: CocoParams = COCO_PARAMS,
): CocoEvaluation {
  checkCocoParams(params);
  const all = params.areaRanges.findIndex(({ label }) => label === 'all');
  const categories = Array.from(gatherEncounters(dataset, results, iouType, params), ({ category, encounters }) => {
    const judgement = judgeCategory(encounters, params.areaRanges, params.iouThresholds);
    return {
      category,
      objects: judgement.ranges[all]?.wanted ?? 0,
      detections: judgement.scores.length,
      curves: drawCurves(judgement, params),
    };
  });
  return { iouType, params, categories };
}
