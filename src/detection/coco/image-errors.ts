/** What went wrong in one image? Each detection that finds no object gets one of five reasons; an object that no better detection could have found is missed. */
import type { Detection, Truth } from './region.js';
import { overlap } from './region.js';

export const ERROR_KINDS = ['classification', 'localisation', 'both', 'duplicate', 'background', 'missed'] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

export interface Labelled<T> {
  readonly categoryId: number;
  readonly value: T;
}

/** One detection as average precision sees it. */
export interface Point {
  readonly categoryId: number;
  readonly score: number;
  readonly correct: boolean;
}

/** An error, with what the detection counts as, and what it would count as were that error mended. */
export interface Fault {
  readonly kind: Exclude<ErrorKind, 'missed'>;
  /** Undefined where a crowd region makes it of no account. */
  readonly is: Point | undefined;
  /** Undefined where mending it takes it away. */
  readonly mended: Point | undefined;
}

export interface ImageErrors {
  /** What the detections count as, in their order. */
  readonly points: readonly Point[];
  readonly faults: readonly Fault[];
  /** The categories of objects that nothing found, one entry per object. */
  readonly unfound: readonly number[];
  /** Those of them that no detection could have found by a better class or place. */
  readonly missed: readonly number[];
}

export interface ErrorThresholds {
  /** Overlap from which an object is found. */
  readonly found: number;
  /** Overlap up to which a detection lies on the background. */
  readonly background: number;
}

/**
 * @param detections  by falling score.
 * @see Bolya, Foley, Hays, Hoffman: TIDE, A General Toolbox for Identifying Object Detection Errors, ECCV 2020, section 2.2.
 */
export function findImageErrors(
  detections: readonly Labelled<Detection>[],
  truths: readonly Labelled<Truth>[],
  thresholds: ErrorThresholds,
): ImageErrors {
  const objects: ObjectState[] = truths
    .filter(({ value }) => value.kind === 'object')
    .map(truth => ({ truth, found: false, best: undefined, bestScore: -1 }));
  const crowds = truths.filter(({ value }) => value.kind === 'crowd');
  const overlaps = detections.map(({ value }) => objects.map(({ truth }) => overlap(value.region, truth.value.region, 'object')));
  const matched = matchByClass(detections, objects, overlaps, thresholds);
  const isIgnored = ({ categoryId, value }: Labelled<Detection>): boolean =>
    crowds.some(crowd => crowd.categoryId === categoryId && overlap(value.region, crowd.value.region, 'crowd') > thresholds.found);

  const wrong = detections.flatMap((detection, index) => {
    if (matched[index] === true) return [];
    const { kind, object } = explain(detection, objects, overlaps[index] ?? [], thresholds);
    if (object !== undefined) claim(object, index, detection.value.score);
    return [{ index, kind, object, is: isIgnored(detection) ? undefined : pointOf(detection, 'wrong') }];
  });
  const wrongPoints = new Map(wrong.map(({ index, is }) => [index, is]));
  const unfound = objects.filter(({ found }) => !found);
  return {
    points: detections.flatMap((detection, index) => (matched[index] ? pointOf(detection, 'correct') : (wrongPoints.get(index) ?? []))),
    faults: wrong.map(({ index, kind, object, is }) => ({
      kind,
      is,
      mended:
        object?.best === index
          ? { ...pointOf(detections[index] as Labelled<Detection>, 'correct'), categoryId: object.truth.categoryId }
          : undefined,
    })),
    unfound: unfound.map(({ truth }) => truth.categoryId),
    missed: unfound.filter(({ best }) => best === undefined).map(({ truth }) => truth.categoryId),
  };
}

function pointOf({ categoryId, value }: Labelled<Detection>, as: 'correct' | 'wrong'): Point {
  return { categoryId, score: value.score, correct: as === 'correct' };
}

interface ObjectState {
  readonly truth: Labelled<Truth>;
  found: boolean;
  /** The detection that would find it, were its class or place right: the one of highest score. */
  best: number | undefined;
  bestScore: number;
}

/** Each detection, by falling score, takes the free object of its class that it overlaps most. */
function matchByClass(
  detections: readonly Labelled<Detection>[],
  objects: readonly ObjectState[],
  overlaps: readonly (readonly number[])[],
  { found }: ErrorThresholds,
): readonly boolean[] {
  return detections.map(({ categoryId }, d) => {
    const { index, value } = largest(objects, overlaps[d] ?? [], one => !one.found && one.truth.categoryId === categoryId);
    const object = objects[index];
    if (object === undefined || value < found) return false;
    object.found = true;
    return true;
  });
}

/** The reason, and for a wrong class or place the object that was meant. The order of the questions is TIDE's. */
function explain(
  { categoryId }: Labelled<Detection>,
  objects: readonly ObjectState[],
  overlaps: readonly number[],
  { found, background }: ErrorThresholds,
): { readonly kind: Fault['kind']; readonly object?: ObjectState | undefined } {
  const isOwn = ({ truth }: ObjectState): boolean => truth.categoryId === categoryId;
  const own = largest(objects, overlaps, isOwn);
  if (objects.length > 0 && own.value >= background && own.value <= found) return { kind: 'localisation', object: objects[own.index] };
  const other = largest(objects, overlaps, one => !isOwn(one));
  if (other.value >= found) return { kind: 'classification', object: objects[other.index] };
  if (largest(objects, overlaps, one => isOwn(one) && one.found).value >= found) return { kind: 'duplicate' };
  return largest(objects, overlaps, () => true).value <= background ? { kind: 'background' } : { kind: 'both' };
}

/** The first of the largest overlaps among the objects that qualify; 0 where none does. */
function largest(
  objects: readonly ObjectState[],
  overlaps: readonly number[],
  qualifies: (object: ObjectState) => boolean,
): { readonly index: number; readonly value: number } {
  let best = { index: -1, value: 0 };
  objects.forEach((object, index) => {
    const value = overlaps[index] ?? 0;
    if (value > best.value && qualifies(object)) best = { index, value };
  });
  return best;
}

/** Several detections may mean one object that is not found yet: mending finds it once. */
function claim(object: ObjectState, detection: number, score: number): void {
  if (object.found || object.bestScore >= score) return;
  object.best = detection;
  object.bestScore = score;
}
