/** Metrics of `evaluate`: the 12 COCO figures per IoU type, and their differences to a baseline. */

import type { Json } from '../../src/base/json.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';
import type { CocoFigures, KeypointFigures } from '../../src/detection/coco/evaluate.js';
import { COCO_METRICS_SCHEMA, type CocoMetrics } from '../../src/detection/coco/metrics-schema.js';
import { readBaseline } from '../../src/stage/baseline.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { IouType } from './params.js';

export type FiguresByType = {
  readonly [Type in IouType]?: Type extends 'keypoints' ? KeypointFigures : CocoFigures;
};

const TYPES = ['bbox', 'segm', 'boundary', 'keypoints'] as const satisfies readonly IouType[];

export type EvaluateCounts = Pick<CocoMetrics, 'images' | 'detections'>;

const reader = readerOf(COCO_METRICS_SCHEMA);

/** @throws StageError `baseline-metrics`. */
export function parseBaseline(json: Json): CocoMetrics {
  return readBaseline(reader, json, 'evaluate');
}

/** `bbox.AP`, `segm.AP`, …, `images`, `detections`, and with a baseline `delta.bbox.AP`, …: this stage minus the baseline. @throws StageError `baseline-metrics`. */
export function makeMetrics(figures: FiguresByType, counts: EvaluateCounts, baseline: CocoMetrics | undefined): CocoMetrics {
  if (baseline === undefined) return { ...figures, ...counts };
  checkCounts(counts, baseline);
  const types = TYPES.filter(type => figures[type] !== undefined);
  return { ...figures, ...counts, delta: Object.fromEntries(types.map(type => [type, subtract(type, figures, baseline)])) };
}

/** One line per IoU type whose AP is less than a tenth of the baseline's; a baseline below 0.05 says nothing. */
export function describeCollapses(figures: FiguresByType, baseline: CocoMetrics | undefined): readonly string[] {
  return TYPES.flatMap(type => {
    const [own, before] = [figures[type]?.AP, baseline?.[type]?.AP];
    if (own === undefined || before === undefined || before < LEAST_AP || own >= before / 10) return [];
    return [
      `${type}: AP ${own.toFixed(4)} is less than a tenth of the baseline's ${before.toFixed(4)}: \`verify\` on the models between them shows where values are lost; docs/tutorial-recover.md shows how to recover accuracy`,
    ];
  });
}

const LEAST_AP = 0.05;

/** Differences of the figures that both sides have; −1 marks a missing figure. */
function subtract(type: IouType, { [type]: own }: FiguresByType, { [type]: others }: CocoMetrics): Readonly<Record<string, number>> {
  if (others === undefined) {
    throw new StageError('baseline-metrics', `the baseline has no figures "${type}"`, {
      help: 'connect the metrics of another `evaluate` with the same iouTypes',
    });
  }
  const before: Readonly<Record<string, number>> = others;
  const deltas = Object.entries(own ?? {}).flatMap(([name, figure]) => {
    const other = before[name] ?? -1;
    return figure < 0 || other < 0 ? [] : [[name, figure - other] as const];
  });
  return Object.fromEntries(deltas);
}

/** The baseline must have the same number of images. */
function checkCounts({ images }: EvaluateCounts, baseline: CocoMetrics): void {
  if (baseline.images === images) return;
  throw new StageError('baseline-metrics', `the baseline was measured on ${baseline.images} images, this stage on ${images}`, {
    help: 'give both stages the same data and samples',
  });
}
