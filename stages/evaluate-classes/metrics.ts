/** Metrics of `evaluate-classes`: top-1 and top-5 accuracy, and their differences to a baseline. */
import { isJsonObject, type Json, type JsonObject } from '../../src/base/json.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { BestClasses } from './classify-image.js';

export interface Prediction {
  readonly file: string;
  readonly label: number;
  readonly best: BestClasses;
}

const FIGURES = ['top1', 'top5'] as const;

/** Shares of the images: `top1`, `top5`; `images`; with a baseline `delta.top1` and `delta.top5`: this stage minus the baseline. @throws StageError `baseline-metrics`. */
export function makeClassMetrics(predictions: readonly Prediction[], baseline: Json | undefined): JsonObject {
  const images = predictions.length;
  const share = (within: number): number =>
    predictions.filter(({ label, best }) => best.classes.slice(0, within).includes(label)).length / images;
  const own = { top1: share(1), top5: share(5), images };
  return baseline === undefined ? own : { ...own, delta: subtract(own, baseline) };
}

function subtract(own: Readonly<Record<(typeof FIGURES)[number] | 'images', number>>, baseline: Json): JsonObject {
  const others = isJsonObject(baseline) ? baseline : {};
  if (others.images !== own.images)
    throw new StageError(
      'baseline-metrics',
      `the baseline was measured on ${JSON.stringify(others.images)} images, this stage on ${own.images}`,
      {
        help: 'give both stages the same images and samples',
      },
    );
  const deltas = FIGURES.map(name => {
    const other = others[name];
    if (typeof other === 'number') return [name, own[name] - other] as const;
    throw new StageError('baseline-metrics', `the baseline has no figure "${name}"`, {
      help: 'connect the metrics of another `evaluate-classes`',
    });
  });
  return Object.fromEntries(deltas);
}
