/** The report and metrics of `verify`: figures per value and of the detections, with every unmatched object. */
import { leastFigure } from '../../src/base/figure.js';
import type { JsonObject } from '../../src/base/json.js';
import { type DetectionComparison, detectionFiguresOf, mergeDetectionComparisons } from '../../src/detection/compare/compare-detections.js';
import type { ValueComparisons } from '../../src/detection/compare/compare-parts.js';
import type { SelectedErrors } from '../../src/quant/compare/selected-errors.js';
import {
  type Comparison,
  type ComparisonFigures,
  figuresOf,
  formatSqnr,
  mergeComparisons,
  NO_COMPARISON,
} from '../../src/tensor/compare.js';
import type { PartFigures } from './part-errors.js';
import type { VerifyReport } from './report-schema.js';
import { commonShareOf, describeSelection, heldFiguresOf } from './selected-figures.js';
import type { Summary } from './summary.js';

/**
 * Merges the results of all images, in the value order of the first image. A value of `differing` was not comparable on every image, and has no figures.
 */
export function summarize(
  values: readonly ValueComparisons[],
  detections: readonly DetectionComparison[] | undefined,
  differing: Summary['differing'] = new Map(),
): Summary {
  const merged = new Map<string, Comparison>();
  for (const comparisons of values) {
    for (const [name, comparison] of comparisons) merged.set(name, mergeComparisons(merged.get(name) ?? NO_COMPARISON, comparison));
  }
  for (const name of differing.keys()) merged.delete(name);
  return {
    values: new Map([...merged].map(([name, comparison]) => [name, figuresOf(comparison)])),
    constants: new Map(
      [...merged].flatMap(([name, { reference, candidate }]) =>
        reference === 'varies' && typeof candidate === 'number' ? [[name, candidate] as const] : [],
      ),
    ),
    differing,
    detections: detections === undefined ? undefined : mergeDetectionComparisons(detections),
  };
}

/** `on`: the images or samples. */
export function makeReport(
  { values, detections }: Summary,
  on: Pick<VerifyReport, 'images' | 'samples'>,
  { propagated, selections }: PartFigures,
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
    ...(selections.length === 0 ? {} : { selections: [...selections] }),
    ...(propagated === undefined ? {} : { propagated }),
  };
}

/** `values.NAME.sqnrDb`, `worst.sqnrDb`, `selected.worst.sqnrDb`, `detections.missedShare`, … */
export function makeMetrics({ values, detections }: Summary, selections: readonly SelectedErrors[]): JsonObject {
  const held = heldFiguresOf(selections);
  return {
    values: metricsOf(values),
    worst: worstOf([...values.values()]),
    ...(selections.length === 0
      ? {}
      : {
          selected: {
            values: metricsOf(held),
            worst: worstOf([...new Map([...values, ...held]).values()]),
            commonShare: commonShareOf(selections.flatMap(part => part.selections)),
          },
        }),
    ...(detections === undefined ? {} : { detections: { ...detectionFiguresOf(detections) } }),
  };
}

function metricsOf(values: ReadonlyMap<string, ComparisonFigures>): JsonObject {
  return Object.fromEntries([...values].map(([name, { maxAbs, cosine, sqnrDb }]) => [name, { maxAbs, cosine, sqnrDb }]));
}

function worstOf(all: readonly ComparisonFigures[]): JsonObject {
  return {
    maxAbs: Math.max(0, ...all.map(figures => figures.maxAbs)),
    cosine: Math.min(1, ...all.map(figures => figures.cosine)),
    sqnrDb: leastFigure(all.map(figures => figures.sqnrDb)),
  };
}

/** One line per value, one per selection, and one for the detections. */
export function describeSummary({ values, detections }: Summary, selections: readonly SelectedErrors[]): string[] {
  const lines = [
    ...[...values].map(([name, figures]) => `${name}: ${describeFigures(figures)}`),
    ...selections.flatMap(part => part.selections.map(describeSelection)),
    ...[...heldFiguresOf(selections)].map(([name, figures]) => `${name} with the selection of the reference: ${describeFigures(figures)}`),
  ];
  if (detections === undefined) return lines;
  const { reference, candidate, matched, missed, extra, maxScoreDifference, minBoxIou, minMaskIou } = detectionFiguresOf(detections);
  return [
    ...lines,
    `detections: ${reference} against ${candidate}, ${matched} matched, ${missed} missed, ${extra} extra; scores differ by at most ${maxScoreDifference.toPrecision(3)}, box IoU at least ${minBoxIou.toFixed(4)}, mask IoU at least ${minMaskIou.toFixed(4)}`,
  ];
}

function describeFigures({ sqnrDb, cosine, maxAbs }: ComparisonFigures): string {
  return `SQNR ${formatSqnr(sqnrDb, 2)}, cosine ${cosine.toFixed(7)}, max-abs ${maxAbs.toPrecision(4)}`;
}
