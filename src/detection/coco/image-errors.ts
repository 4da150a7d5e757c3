/** Classifies the errors in one image: one of five kinds per false positive, and missed objects. */
import type { CocoId } from './coco-id.js';
import type { Detection, Truth } from './region.js';
import { overlap } from './region.js';

export const ERROR_KINDS = ['classification', 'localization', 'both', 'duplicate', 'background', 'missed'] as const;
export type ErrorKind = (typeof ERROR_KINDS)[number];

/** The kinds, as tables name them. */
export const ERROR_KIND_WORDS: Readonly<Record<ErrorKind, string>> = {
  classification: 'another class',
  localization: 'too little overlap',
  both: 'class and place',
  duplicate: 'duplicate',
  background: 'background',
  missed: 'missed',
};

export interface Labeled<T> {
  readonly categoryId: CocoId;
  readonly value: T;
}

/** One detection, as average precision counts it. */
export interface Point {
  readonly categoryId: CocoId;
  readonly score: number;
  readonly correct: boolean;
}

/** An error: how the detection counts, and how it would count after correction. */
export interface Fault {
  readonly kind: Exclude<ErrorKind, 'missed'>;
  /** Undefined where the detection is ignored because it lies in a crowd region. */
  readonly is: Point | undefined;
  /** Undefined where the correction removes the detection. */
  readonly corrected: Point | undefined;
}

export interface ImageErrors {
  /** How the detections count, in their order. */
  readonly points: readonly Point[];
  readonly faults: readonly Fault[];
  /** Categories of the objects that were not found, one entry per object. */
  readonly unfound: readonly CocoId[];
  /** The subset that no detection would find with a corrected class or place. */
  readonly missed: readonly CocoId[];
}

export interface ErrorThresholds {
  /** Minimum overlap with a found object. */
  readonly found: number;
  /** Maximum overlap of a detection on the background. */
  readonly background: number;
}

/**
 * @param detections  by falling score.
 * @see Bolya, Foley, Hays, Hoffman: TIDE, A General Toolbox for Identifying Object Detection Errors, ECCV 2020, section 2.2.
 */
export function findImageErrors(
  detections: readonly Labeled<Detection>[],
  truths: readonly Labeled<Truth>[],
  thresholds: ErrorThresholds,
): ImageErrors {
  const objects: ObjectState[] = truths
    .filter(({ value }) => value.kind === 'object')
    .map(truth => ({ truth, found: false, best: undefined, bestScore: -1 }));
  const crowds = truths.filter(({ value }) => value.kind === 'crowd');
  const overlaps = detections.map(({ value }) => objects.map(({ truth }) => overlap(value.region, truth.value.region, 'object')));
  const matched = matchByClass(detections, objects, overlaps, thresholds);
  const isIgnored = ({ categoryId, value }: Labeled<Detection>): boolean =>
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
      corrected:
        object?.best === index
          ? { ...pointOf(detections[index] as Labeled<Detection>, 'correct'), categoryId: object.truth.categoryId }
          : undefined,
    })),
    unfound: unfound.map(({ truth }) => truth.categoryId),
    missed: unfound.filter(({ best }) => best === undefined).map(({ truth }) => truth.categoryId),
  };
}

function pointOf({ categoryId, value }: Labeled<Detection>, as: 'correct' | 'wrong'): Point {
  return { categoryId, score: value.score, correct: as === 'correct' };
}

interface ObjectState {
  readonly truth: Labeled<Truth>;
  found: boolean;
  /** The detection of highest score that would find the object with a corrected class or place. */
  best: number | undefined;
  bestScore: number;
}

/** Each detection, by falling score, matches the free object of its class that it overlaps most. */
function matchByClass(
  detections: readonly Labeled<Detection>[],
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

/** The kind of error and, for a wrong class or place, the intended object. The order of the checks is that of TIDE. */
function explain(
  { categoryId }: Labeled<Detection>,
  objects: readonly ObjectState[],
  overlaps: readonly number[],
  { found, background }: ErrorThresholds,
): { readonly kind: Fault['kind']; readonly object?: ObjectState | undefined } {
  const isOwn = ({ truth }: ObjectState): boolean => truth.categoryId === categoryId;
  const own = largest(objects, overlaps, isOwn);
  if (objects.length > 0 && own.value >= background && own.value <= found) return { kind: 'localization', object: objects[own.index] };
  const other = largest(objects, overlaps, one => !isOwn(one));
  if (other.value >= found) return { kind: 'classification', object: objects[other.index] };
  if (largest(objects, overlaps, one => isOwn(one) && one.found).value >= found) return { kind: 'duplicate' };
  return largest(objects, overlaps, () => true).value <= background ? { kind: 'background' } : { kind: 'both' };
}

/** The first of the largest overlaps among the qualifying objects; 0 where there are none. */
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

/** Several detections may intend one object. A correction finds it only once. */
function claim(object: ObjectState, detection: number, score: number): void {
  if (object.found || object.bestScore >= score) return;
  object.best = detection;
  object.bestScore = score;
}
