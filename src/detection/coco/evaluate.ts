/** How good are a detector's results? The twelve COCO figures, equal to pycocotools'. */

import { type Curve, drawCurve, type ScoredJudgement } from './accumulate.js';
import type { CocoDataset } from './dataset.js';
import { gatherEncounters } from './instances.js';
import { judge } from './matching.js';
import { type AreaRange, COCO_PARAMS, type CocoParams, checkCocoParams, type IouType } from './params.js';
import type { CocoResult } from './results.js';

/** Average precision and recall in 0…1, or −1 where no object is there to be found. */
export type CocoFigures = { readonly [Name in CocoFigureName]: number };

export const COCO_FIGURE_NAMES = [
  'AP',
  'AP50',
  'AP75',
  'APsmall',
  'APmedium',
  'APlarge',
  'AR1',
  'AR10',
  'AR100',
  'ARsmall',
  'ARmedium',
  'ARlarge',
] as const;
export type CocoFigureName = (typeof COCO_FIGURE_NAMES)[number];

/**
 * Evaluates results on a data set: matching, crowds, size classes, orders and means as pycocotools' COCOeval.
 *
 * AR1, AR10 and AR100 stand for the three `maxDetections`, whatever they are; the other figures are taken at the third. Figures for categories that the data set lacks do
 * not exist: such results are left out, as pycocotools leaves them out.
 * @throws DetectionError `coco-params`, `coco-no-region`.
 * @see Lin et al., Microsoft COCO; cocodataset.org, detection evaluation.
 */
export function evaluateCoco(
  dataset: CocoDataset,
  results: readonly CocoResult[],
  iouType: IouType,
  params: CocoParams = COCO_PARAMS,
): CocoFigures {
  checkCocoParams(params);
  const curves = gatherEncounters(dataset, results, iouType, params).map(encounters => {
    const judged = encounters.map(encounter => ({
      scores: Float64Array.from(encounter.detections, ({ score }) => score),
      perRange: judge(encounter, params.areaRanges, params.iouThresholds),
    }));
    return params.areaRanges.map((_, range) => {
      const judgements = judged.flatMap(({ scores, perRange }) => {
        const judgement = perRange[range];
        return judgement === undefined ? [] : [{ ...judgement, scores }];
      });
      return drawCurves(judgements, params);
    });
  });
  return summarise(curves, params);
}

/** One curve per number of detections. */
function drawCurves(judgements: readonly ScoredJudgement[], params: CocoParams): (Curve | undefined)[] {
  return params.maxDetections.map(maxDetections =>
    drawCurve(judgements, { maxDetections, thresholds: params.iouThresholds.length, recallThresholds: params.recallThresholds }),
  );
}

/** Indexed by category, area range, number of detections. */
type Curves = readonly (readonly (readonly (Curve | undefined)[])[])[];

function summarise(curves: Curves, params: CocoParams): CocoFigures {
  const pick = (label: AreaRange['label'], count: number): Curve[] => {
    const range = params.areaRanges.findIndex(one => one.label === label);
    return curves.flatMap(category => category[range]?.[count] ?? []);
  };
  const precision = (label: AreaRange['label'], iou: 'all' | number = 'all') =>
    mean(pick(label, 2).map(curve => precisionAt(curve, iou, params)));
  const recall = (label: AreaRange['label'], count: number) => mean(pick(label, count).map(curve => curve.recall));
  return {
    AP: precision('all'),
    AP50: precision('all', 0.5),
    AP75: precision('all', 0.75),
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

function precisionAt({ precision }: Curve, iou: 'all' | number, params: CocoParams): Float64Array {
  if (iou === 'all') return precision;
  const points = params.recallThresholds.length;
  const threshold = params.iouThresholds.indexOf(iou);
  return threshold < 0 ? new Float64Array(0) : precision.subarray(threshold * points, (threshold + 1) * points);
}

function mean(lists: readonly Float64Array[]): number {
  let [sum, count] = [0, 0];
  for (const list of lists) {
    for (const value of list) sum += value;
    count += list.length;
  }
  return count === 0 ? -1 : sum / count;
}
