/** Metrics of `evaluate-segmentation`: mIoU, accuracies, IoU per class, and their differences to a baseline. */

import type { Json } from '../../src/base/json.js';
import { integer, mapOf, number, openObject } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';
import type { SegmentationFigures } from '../../src/detection/segmentation/confusion.js';
import { readBaseline } from '../../src/stage/baseline.js';
import { StageError } from '../../src/stage/stage-error.js';

const SHARES = { miou: number(), pixelAccuracy: number(), meanAccuracy: number() };

export const SEGMENTATION_METRICS_SCHEMA = openObject(
  {
    ...SHARES,
    images: integer(0),
    pixels: integer(0),
    iou: mapOf(number(), { description: 'IoU of each class that is labeled or predicted.' }),
  },
  { delta: openObject(SHARES, {}, 'These figures minus those of the baseline.') },
);

export type SegmentationMetrics = FromSchema<typeof SEGMENTATION_METRICS_SCHEMA>;

const reader = readerOf(SEGMENTATION_METRICS_SCHEMA);

export interface Measured {
  readonly figures: SegmentationFigures;
  readonly images: number;
  readonly nameOf: (label: number) => string;
}

/** With a baseline `delta`: this stage minus the baseline. @throws StageError `baseline-metrics`. */
export function makeSegmentationMetrics({ figures, images, nameOf }: Measured, baseline: Json | undefined): SegmentationMetrics {
  const { miou, pixelAccuracy, meanAccuracy, pixels, perClass } = figures;
  const iou = Object.fromEntries(perClass.flatMap(one => (one.iou === undefined ? [] : [[nameOf(one.label), one.iou] as const])));
  const own = { miou, pixelAccuracy, meanAccuracy, images, pixels, iou };
  return baseline === undefined ? own : { ...own, delta: subtract(own, baseline) };
}

function subtract(own: SegmentationMetrics, baseline: Json): NonNullable<SegmentationMetrics['delta']> {
  const { images, pixels, miou, pixelAccuracy, meanAccuracy } = readBaseline(reader, baseline, 'evaluate-segmentation');
  if (images !== own.images || pixels !== own.pixels)
    throw new StageError(
      'baseline-metrics',
      `the baseline was measured on ${images} images and ${pixels} pixels, this stage on ${own.images} and ${own.pixels}`,
      { help: 'give both stages the same images, masks and samples' },
    );
  return { miou: own.miou - miou, pixelAccuracy: own.pixelAccuracy - pixelAccuracy, meanAccuracy: own.meanAccuracy - meanAccuracy };
}
