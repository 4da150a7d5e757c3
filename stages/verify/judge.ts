/** Is the candidate near enough to the reference? Every threshold that is missed, in words with the figures. */
import { rankOf } from '../../src/base/figure.js';
import type { DetectionFigures } from '../../src/detection/compare/compare-detections.js';
import type { ComparisonFigures } from '../../src/tensor/compare.js';
import type { Bound, Thresholds } from './params.js';

export interface Verdict {
  /** One line per missed threshold, the values in the order of the report. */
  readonly missed: readonly string[];
  /** Names in thresholds that are no value: a bound that holds nothing is a mistake. */
  readonly unknown: readonly string[];
}

/** `detections` is undefined where one part alone is compared. */
export function judge(
  values: ReadonlyMap<string, ComparisonFigures>,
  detections: DetectionFigures | undefined,
  thresholds: Thresholds,
): Verdict {
  const missed: string[] = [];
  for (const [name, figures] of values) {
    const check = (label: string, found: number, bound: number | undefined, least: 'least' | 'most'): void => {
      if (bound === undefined || (least === 'least' ? found >= bound : found <= bound)) return;
      missed.push(`${name}: ${label} ${format(found)}, ${least === 'least' ? 'at least' : 'at most'} ${bound} is wanted`);
    };
    check('SQNR in dB', rankOf(figures.sqnrDb), boundOf(thresholds.minSqnrDb, name), 'least');
    check('cosine', figures.cosine, boundOf(thresholds.minCosine, name), 'least');
    check('max-abs', figures.maxAbs, boundOf(thresholds.maxAbs, name), 'most');
    const bounded = [thresholds.minSqnrDb, thresholds.minCosine, thresholds.maxAbs].some(bound => boundOf(bound, name) !== undefined);
    if (bounded && figures.broken > 0) missed.push(`${name}: ${figures.broken} elements are NaN or infinite on one side`);
    if (bounded && figures.elements === 0) missed.push(`${name}: nothing was compared, as no chosen image gives its part anything to do`);
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
    if (bound !== undefined && found > bound) missed.push(`detections: ${what} ${format(found)}, at most ${bound} is wanted`);
  };
  const atLeast = (what: string, found: number, bound: number | undefined): void => {
    if (bound !== undefined && found < bound) missed.push(`detections: ${what} ${format(found)}, at least ${bound} is wanted`);
  };
  atMost(`share missed (${figures.missed} of ${figures.reference})`, figures.missedShare, thresholds.maxMissed);
  atMost(`share extra (${figures.extra} of ${figures.candidate})`, figures.extraShare, thresholds.maxExtra);
  atMost('largest score difference', figures.maxScoreDifference, thresholds.maxScoreDifference);
  atLeast('least box IoU', figures.minBoxIou, thresholds.minBoxIou);
  atLeast('least mask IoU', figures.minMaskIou, thresholds.minMaskIou);
  return missed;
}

function boundOf(bound: Bound | undefined, name: string): number | undefined {
  if (bound === undefined || typeof bound === 'number') return bound;
  return Object.hasOwn(bound, name) ? bound[name] : bound.default;
}

function format(value: number): string {
  return String(Number(value.toPrecision(6)));
}
