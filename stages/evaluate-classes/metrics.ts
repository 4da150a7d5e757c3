/** Metrics of `evaluate-classes`: top-1 and top-5 accuracy, and their differences to a baseline. */

import type { Json } from '../../src/base/json.js';
import { integer, number, openObject } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';
import { readBaseline } from '../../src/stage/baseline.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { BestClasses } from './classify-image.js';

export interface Prediction {
  readonly file: string;
  readonly label: number;
  readonly best: BestClasses;
}

const SHARES = { top1: number(), top5: number() };

export const CLASS_METRICS_SCHEMA = openObject(
  { ...SHARES, images: integer(0) },
  { delta: openObject(SHARES, {}, 'These figures minus those of the baseline.') },
);

export type ClassMetrics = FromSchema<typeof CLASS_METRICS_SCHEMA>;

const reader = readerOf(CLASS_METRICS_SCHEMA);

/** Shares of the images: `top1`, `top5`; `images`; with a baseline `delta.top1` and `delta.top5`: this stage minus the baseline. @throws StageError `baseline-metrics`. */
export function makeClassMetrics(predictions: readonly Prediction[], baseline: Json | undefined): ClassMetrics {
  const images = predictions.length;
  const share = (within: number): number =>
    predictions.filter(({ label, best }) => best.classes.slice(0, within).includes(label)).length / images;
  const own = { top1: share(1), top5: share(5), images };
  return baseline === undefined ? own : { ...own, delta: subtract(own, baseline) };
}

function subtract(own: ClassMetrics, baseline: Json): NonNullable<ClassMetrics['delta']> {
  const { images, top1, top5 } = readBaseline(reader, baseline, 'evaluate-classes');
  if (images !== own.images) {
    throw new StageError('baseline-metrics', `the baseline was measured on ${images} images, this stage on ${own.images}`, {
      help: 'give both stages the same images and samples',
    });
  }
  return { top1: own.top1 - top1, top5: own.top5 - top5 };
}
