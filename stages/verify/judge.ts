/** Compares figures with thresholds, and describes every missed threshold. */
import { rankOf } from '../../src/base/figure.js';
import type { DetectionFigures } from '../../src/detection/compare/detection-figures.js';
import type { ComparisonFigures } from '../../src/tensor/compare.js';
import type { Bound, Thresholds } from './params.js';

export interface Verdict {
  /** One line per missed threshold, values in the order of the report. */
  readonly missed: readonly string[];
  /** Names in thresholds that are not values: such a bound would check nothing. */
  readonly unknown: readonly string[];
}

/** `detections` is undefined if only one part is compared. */
export function judge(
  values: ReadonlyMap<string, ComparisonFigures>,
  detections: DetectionFigures | undefined,
  thresholds: Thresholds,
): Verdict {
  const missed: string[] = [];
  for (const [name, figures] of values) {
    const check = (label: string, found: number, bound: number | undefined, least: 'least' | 'most'): void => {
      if (bound === undefined || (least === 'least' ? found >= bound : found <= bound)) return;
      missed.push(`${name}: ${label} ${formatFigure(found)}, expected ${least === 'least' ? 'at least' : 'at most'} ${bound}`);
    };
    check('SQNR in dB', rankOf(figures.sqnrDb), boundOf(thresholds.minSqnrDb, name), 'least');
    check('cosine', figures.cosine, boundOf(thresholds.minCosine, name), 'least');
    check('max-abs', figures.maxAbs, boundOf(thresholds.maxAbs, name), 'most');
    const bounded = [thresholds.minSqnrDb, thresholds.minCosine, thresholds.maxAbs].some(bound => boundOf(bound, name) !== undefined);
    if (bounded && figures.broken > 0) missed.push(`${name}: ${figures.broken} elements are NaN or infinite on only one side`);
    if (bounded && figures.elements === 0) missed.push(`${name}: nothing was compared, because no chosen image has rows for its part`);
  }
  if (detections !== undefined) missed.push(...judgeDetections(detections, thresholds));
  const names = [thresholds.minSqnrDb, thresholds.minCosine, thresholds.maxAbs].flatMap(bound =>
    typeof bound === 'object' ? Object.keys(bound) : [],
  );
  return { missed, unknown: [...new Set(names)].filter(name => name !== 'default' && !values.has(name)) };
}

function judgeDetections(figures: DetectionFigures, thresholds: Thresholds): string[] {
  const missed: string[] = [];
  const atMost = (what: string, found: number, bound: number | undefined): void => {
    if (bound !== undefined && found > bound) missed.push(`detections: ${what} ${formatFigure(found)}, expected at most ${bound}`);
  };
  const atLeast = (what: string, found: number, bound: number | undefined): void => {
    if (bound !== undefined && found < bound) missed.push(`detections: ${what} ${formatFigure(found)}, expected at least ${bound}`);
  };
  atMost(`share missed (${figures.missed} of ${figures.reference})`, figures.missedShare, thresholds.maxMissed);
  atMost(`share extra (${figures.extra} of ${figures.candidate})`, figures.extraShare, thresholds.maxExtra);
  atMost('largest score difference', figures.maxScoreDifference, thresholds.maxScoreDifference);
  atLeast('smallest box IoU', figures.minBoxIou, thresholds.minBoxIou);
  atLeast('smallest mask IoU', figures.minMaskIou, thresholds.minMaskIou);
  return missed;
}

export function boundOf(bound: Bound | undefined, name: string): number | undefined {
  if (bound === undefined || typeof bound === 'number') return bound;
  return Object.hasOwn(bound, name) ? bound[name] : bound.default;
}

export function formatFigure(value: number): string {
  return String(Number(value.toPrecision(6)));
}
