/** The report and metrics of `verify`: figures per value and of the detections, with every unmatched object. */
import { leastFigure } from '../../src/base/figure.js';
import type { JsonObject } from '../../src/base/json.js';
import { type DetectionComparison, detectionFiguresOf, mergeDetectionComparisons } from '../../src/detection/compare/compare-detections.js';
import type { ValueComparisons } from '../../src/detection/compare/compare-parts.js';
import type { PartErrors } from '../../src/quant/compare/propagated-error.js';
import {
  type Comparison,
  type ComparisonFigures,
  figuresOf,
  formatSqnr,
  mergeComparisons,
  NO_COMPARISON,
} from '../../src/tensor/compare.js';
import type { VerifyReport } from './report-schema.js';

/** The results over all images. */
export interface Summary {
  readonly values: ReadonlyMap<string, ComparisonFigures>;
  /** Values of which all elements of the candidate are equal, and those of the reference are not, with the number that they equal. */
  readonly constants: ReadonlyMap<string, number>;
  /** undefined if only one part is compared. */
  readonly detections: DetectionComparison | undefined;
}

/** Merges the results of all images, in the value order of the first image. */
export function summarize(values: readonly ValueComparisons[], detections: readonly DetectionComparison[] | undefined): Summary {
  const merged = new Map<string, Comparison>();
  for (const comparisons of values) {
    for (const [name, comparison] of comparisons) merged.set(name, mergeComparisons(merged.get(name) ?? NO_COMPARISON, comparison));
  }
  return {
    values: new Map([...merged].map(([name, comparison]) => [name, figuresOf(comparison)])),
    constants: new Map(
      [...merged].flatMap(([name, { reference, candidate }]) =>
        reference === 'varies' && typeof candidate === 'number' ? [[name, candidate] as const] : [],
      ),
    ),
    detections: detections === undefined ? undefined : mergeDetectionComparisons(detections),
  };
}

/** `on`: the images or samples; `errors`: those of every inner value, if they were compared. */
export function makeReport(
  { values, detections }: Summary,
  on: Pick<VerifyReport, 'images' | 'samples'>,
  errors: readonly PartErrors[] | undefined,
): VerifyReport {
  return {
    ...on,
    values: Object.fromEntries(values),
    ...(detections === undefined
      ? {}
      : {
          detections: {
            ...detectionFiguresOf(detections),
            missedObjects: detections.missed,
            extraObjects: detections.extra,
          },
        }),
    ...(errors === undefined ? {} : { propagated: errors }),
  };
}

/** `values.NAME.sqnrDb`, `worst.sqnrDb`, `detections.missedShare`, … */
export function makeMetrics({ values, detections }: Summary): JsonObject {
  const all = [...values.values()];
  return {
    values: Object.fromEntries([...values].map(([name, { maxAbs, cosine, sqnrDb }]) => [name, { maxAbs, cosine, sqnrDb }])),
    worst: {
      maxAbs: Math.max(0, ...all.map(figures => figures.maxAbs)),
      cosine: Math.min(1, ...all.map(figures => figures.cosine)),
      sqnrDb: leastFigure(all.map(figures => figures.sqnrDb)),
    },
    ...(detections === undefined ? {} : { detections: { ...detectionFiguresOf(detections) } }),
  };
}

/** One line per value, and one for the detections. */
export function describeSummary({ values, detections }: Summary): string[] {
  const lines = [...values].map(
    ([name, { sqnrDb, cosine, maxAbs }]) =>
      `${name}: SQNR ${formatSqnr(sqnrDb, 2)}, cosine ${cosine.toFixed(7)}, max-abs ${maxAbs.toPrecision(4)}`,
  );
  if (detections === undefined) return lines;
  const { reference, candidate, matched, missed, extra, maxScoreDifference, minBoxIou, minMaskIou } = detectionFiguresOf(detections);
  return [
    ...lines,
    `detections: ${reference} against ${candidate}, ${matched} matched, ${missed} missed, ${extra} extra; scores differ by at most ${maxScoreDifference.toPrecision(3)}, box IoU at least ${minBoxIou.toFixed(4)}, mask IoU at least ${minMaskIou.toFixed(4)}`,
  ];
}
