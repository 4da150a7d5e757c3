/** The precision-recall curves behind AP as plain lists, per category and averaged. */
import type { CocoCategory } from './dataset.js';
import type { CocoEvaluation, EvaluatedCategory } from './measure.js';

/** Curves for objects of all sizes, at the largest of `maxDetections`. */
export interface PrecisionRecallCurves {
  /** The recall at each index of the lists. */
  readonly recall: readonly number[];
  /** By ascending IoU threshold. */
  readonly mean: readonly PrecisionRecallCurve[];
  /** Only categories with objects. */
  readonly categories: readonly { readonly category: CocoCategory; readonly curves: readonly PrecisionRecallCurve[] }[];
}

export interface PrecisionRecallCurve {
  readonly iou: number;
  readonly precision: readonly number[];
  /** The score threshold that reaches the recall; 0 where the recall is not reached. Absent from mean curves. */
  readonly scores?: readonly number[];
}

export function listCurves(evaluation: CocoEvaluation): PrecisionRecallCurves {
  const { iouThresholds, recallThresholds, areaRanges } = evaluation.params;
  const all = areaRanges.findIndex(({ label }) => label === 'all');
  const points = recallThresholds.length;
  const slice = (values: Float64Array, t: number): readonly number[] => [...values.subarray(t * points, (t + 1) * points)];
  const curvesOf = ({ curves }: EvaluatedCategory): readonly Required<PrecisionRecallCurve>[] => {
    const own = curves[all];
    if (own === undefined) return [];
    return iouThresholds.map((iou, t) => ({ iou, precision: slice(own.precision, t), scores: slice(own.scores, t) }));
  };
  const found = evaluation.categories
    .map(one => ({ category: one.category, curves: curvesOf(one) }))
    .filter(({ curves }) => curves.length > 0);
  return {
    recall: recallThresholds,
    mean:
      found.length === 0
        ? []
        : iouThresholds.map((iou, t) => ({ iou, precision: meanOf(found.map(({ curves }) => curves[t]?.precision ?? [])) })),
    categories: found.flatMap(({ category, curves }) => (category === undefined ? [] : [{ category, curves }])),
  };
}

function meanOf(lists: readonly (readonly number[])[]): readonly number[] {
  return (lists[0] ?? []).map((_, i) => lists.reduce((sum, list) => sum + (list[i] ?? 0), 0) / lists.length);
}
