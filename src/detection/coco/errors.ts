/** Cost of each kind of detection error in average precision: the gain where only this kind is corrected (TIDE). */
import type { CocoId } from './coco-id.js';
import type { CocoDataset } from './dataset.js';
import {
  ERROR_KINDS,
  type ErrorKind,
  type ErrorThresholds,
  findImageErrors,
  type ImageErrors,
  type Labeled,
  type Point,
} from './image-errors.js';
import type { IouType } from './params.js';
import { type Detection, describeDetection, describeTruth, type Truth } from './region.js';
import { type CocoResult, compareScores, scoreOf } from './results.js';
import { groupByImage, takeKnownCategories } from './subset.js';

export type ErrorSplit = {
  /** Average precision at the IoU threshold `found`. */
  readonly ap: number;
  readonly kinds: Readonly<Record<ErrorKind, ErrorCost>>;
  /** Cost of all false positives, computed by ranking them last; and cost of all objects that were not found. */
  readonly falsePositives: ErrorCost;
  readonly falseNegatives: ErrorCost;
};

export type ErrorCost = {
  readonly count: number;
  /** Gain in average precision where only this error is corrected; at least 0. */
  readonly cost: number;
};

export interface ErrorOptions extends ErrorThresholds {
  /** Number of best detections per image that count, over all categories. */
  readonly maxDetections: number;
}

export const ERROR_OPTIONS: ErrorOptions = { found: 0.5, background: 0.1, maxDetections: 100 };

/**
 * Splits the errors of a detector by kind. Categories with detections but without objects count with a precision of 0. Without objects and detections, `ap`
 * is −1. Results of categories that the data set does not have are ignored.
 * @throws DetectionError `coco-no-region`.
 * @see Bolya, Foley, Hays, Hoffman: TIDE, ECCV 2020; the figures are those of its program (tidecv), in 0…1.
 */
export function splitErrors(
  dataset: CocoDataset,
  results: readonly CocoResult[],
  iouType: IouType,
  options: ErrorOptions = ERROR_OPTIONS,
): ErrorSplit {
  const images = findErrors(dataset, results, iouType, options);
  const objects = countBy(dataset.annotations.filter(({ kind }) => kind === 'object').map(({ categoryId }) => categoryId));
  const points = images.flatMap(one => one.points);
  const faults = images.flatMap(one => one.faults);
  const missed = images.flatMap(one => one.missed);
  const correct = points.filter(point => point.correct);
  const uncorrected = [...faults.flatMap(({ is }) => is ?? []), ...correct];
  const ap = meanPrecision(points, objects);
  // Without objects and false positives, precision is 1.
  const gain = (corrected: readonly Point[], left = objects): number => (ap === undefined ? 0 : (meanPrecision(corrected, left) ?? 1) - ap);
  const costOf = (kind: ErrorKind): ErrorCost => {
    if (kind === 'missed') return { count: missed.length, cost: Math.max(0, gain(uncorrected, without(objects, missed))) };
    const corrected = faults.flatMap(fault => (fault.kind === kind ? fault.corrected : fault.is) ?? []);
    return { count: faults.filter(fault => fault.kind === kind).length, cost: Math.max(0, gain([...corrected, ...correct])) };
  };
  const unfound = images.flatMap(one => one.unfound);
  return {
    ap: ap ?? -1,
    kinds: Object.fromEntries(ERROR_KINDS.map(kind => [kind, costOf(kind)])) as Record<ErrorKind, ErrorCost>,
    falsePositives: {
      count: points.length - correct.length,
      cost: gain(uncorrected.map(point => ({ ...point, score: point.correct ? 1 : 0 }))),
    },
    falseNegatives: { count: unfound.length, cost: gain(uncorrected, without(objects, unfound)) },
  };
}

function findErrors(dataset: CocoDataset, results: readonly CocoResult[], iouType: IouType, options: ErrorOptions): readonly ImageErrors[] {
  const truths = groupByImage(dataset.annotations);
  const detections = groupByImage(takeKnownCategories(dataset, results));
  return dataset.images.map(image => {
    const best = (detections.get(image.id) ?? [])
      .toSorted((a, b) => compareScores(scoreOf(a, iouType), scoreOf(b, iouType)))
      .slice(0, options.maxDetections);
    return findImageErrors(
      best.map((result): Labeled<Detection> => ({ categoryId: result.categoryId, value: describeDetection(result, image, iouType) })),
      (truths.get(image.id) ?? []).map(
        (annotation): Labeled<Truth> => ({ categoryId: annotation.categoryId, value: describeTruth(annotation, image, iouType) }),
      ),
      options,
    );
  });
}

/** Mean over the categories with objects or points; undefined where there are none. */
function meanPrecision(points: readonly Point[], objects: ReadonlyMap<CocoId, number>): number | undefined {
  const groups = new Map<CocoId, Point[]>([...objects].filter(([, count]) => count > 0).map(([id]) => [id, []]));
  for (const point of points) {
    const group = groups.get(point.categoryId);
    if (group === undefined) groups.set(point.categoryId, [point]);
    else group.push(point);
  }
  if (groups.size === 0) return undefined;
  let sum = 0;
  for (const [id, group] of groups) sum += averagePrecision(group, objects.get(id) ?? 0);
  return sum / groups.size;
}

/** Mean of the interpolated precisions at the recalls 0, 0.01, … 1. Points of equal score keep their order. */
function averagePrecision(points: readonly Point[], objects: number): number {
  if (objects === 0) return 0;
  const ranked = points.toSorted((a, b) => compareScores(a.score, b.score));
  const precision = new Float64Array(ranked.length);
  const recall = new Float64Array(ranked.length);
  let found = 0;
  ranked.forEach(({ correct }, i) => {
    if (correct) found++;
    precision[i] = found / (i + 1);
    recall[i] = found / objects;
  });
  for (let i = ranked.length - 1; i > 0; i--) precision[i - 1] = Math.max(precision[i - 1] as number, precision[i] as number);
  let sum = 0;
  let step = 0;
  for (let percent = 0; percent <= 100; percent++) {
    while (step < ranked.length && (recall[step] as number) < percent / 100) step++;
    sum += precision[step] ?? 0;
  }
  return sum / 101;
}

function without(counts: ReadonlyMap<CocoId, number>, taken: readonly CocoId[]): ReadonlyMap<CocoId, number> {
  const rest = new Map(counts);
  for (const id of taken) rest.set(id, (rest.get(id) ?? 0) - 1);
  return rest;
}

function countBy(ids: readonly CocoId[]): ReadonlyMap<CocoId, number> {
  const counts = new Map<CocoId, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
