/** Metrics of `evaluate`: the 12 COCO figures per IoU type, and their differences to a baseline. */
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.js';
import { COCO_FIGURE_NAMES, type CocoFigures } from '../../src/detection/coco/evaluate.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { IouType } from './params.js';

export type FiguresByType = Readonly<Partial<Record<IouType, CocoFigures>>>;

export interface EvaluateCounts {
  readonly images: number;
  readonly detections: number;
}

/** `bbox.AP`, `segm.AP`, …, `images`, `detections`, and with a baseline `delta.bbox.AP`, …: this stage minus the baseline. */
export function makeMetrics(figures: FiguresByType, counts: EvaluateCounts, baseline: Json | undefined): JsonObject {
  const types = Object.entries(figures) as [IouType, CocoFigures][];
  const own = Object.fromEntries(types.map(([type, values]) => [type, { ...values }]));
  if (baseline === undefined) return { ...own, ...counts };
  checkCounts(counts, baseline);
  return { ...own, ...counts, delta: Object.fromEntries(types.map(([type, values]) => [type, subtract(type, values, baseline)])) };
}

/** Differences of the figures that both sides have; −1 marks a missing figure. @throws StageError `baseline-metrics`. */
function subtract(type: IouType, figures: CocoFigures, baseline: Json): JsonObject {
  const others = isJsonObject(baseline) ? baseline[type] : undefined;
  if (!isJsonObject(others)) {
    throw new StageError('baseline-metrics', `the baseline has no figures "${type}"`, {
      help: 'connect the metrics of another `evaluate` with the same iouTypes',
    });
  }
  const deltas = COCO_FIGURE_NAMES.flatMap(name => {
    const other = others[name];
    if (typeof other !== 'number') throw new StageError('baseline-metrics', `the baseline has no figure "${type}.${name}"`);
    return figures[name] < 0 || other < 0 ? [] : [[name, figures[name] - other] as const];
  });
  return Object.fromEntries(deltas);
}

/** The baseline must have the same number of images. */
function checkCounts({ images }: EvaluateCounts, baseline: Json): void {
  const others = isJsonObject(baseline) ? baseline.images : undefined;
  if (others === images) return;
  throw new StageError('baseline-metrics', `the baseline was measured on ${JSON.stringify(others)} images, this stage on ${images}`, {
    help: 'give both stages the same data and samples',
  });
}
