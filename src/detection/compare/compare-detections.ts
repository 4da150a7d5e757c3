/** Compares the detections of two detectors. Objects are matched by class and box IoU, independent of their order. */
import { anyOf, anyText, integer, listOf, NULL, number, openObject } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import type { CocoId } from '../coco/coco-id.js';
import type { DetectedObjects } from '../detector/detector.js';
import { findObjectMask } from '../detector/object-masks.js';
import { type Rle, rleArea } from '../masks/rle.js';
import { rleIou } from '../masks/rle-combine.js';
import { matchDetections } from './match-detections.js';

/** An object without a partner, in the report of `verify`. */
export const LONE_OBJECT_SCHEMA = openObject({
  image: anyOf([number(), anyText(), NULL], 'Id of the image.'),
  label: integer(0, 'Its class.'),
  score: number({}, 'Its score.'),
  box: listOf(4, number(), 'x1, y1, x2, y2 in the image.'),
});

export type LoneObject = FromSchema<typeof LONE_OBJECT_SCHEMA>;

/** A matched pair of objects. */
export interface Partners {
  /** The larger of the differences of object scores and of mask scores. */
  readonly scoreDifference: number;
  readonly boxIou: number;
  readonly maskIou: number;
}

export interface DetectionComparison {
  readonly reference: number;
  readonly candidate: number;
  readonly missed: readonly LoneObject[];
  readonly extra: readonly LoneObject[];
  readonly partners: readonly Partners[];
}

export interface MatchRule {
  /** Minimum box IoU of a matched pair. */
  readonly matchIou: number;
  /** Objects with a lower score are neither missed nor extra; pairs of two such objects are not counted. */
  readonly minScore: number;
}

/** Compares the objects of one image. References, by falling score, match the candidate with the largest IoU. */
export function compareDetections(
  image: CocoId,
  reference: DetectedObjects,
  candidate: DetectedObjects,
  rule: MatchRule,
): DetectionComparison {
  const { pairs, missed, extra } = matchDetections(reference, candidate, rule.matchIou);
  const lone = (objects: DetectedObjects, indices: readonly number[]): LoneObject[] =>
    indices.map(index => describeObject(image, objects, index)).filter(({ score }) => score >= rule.minScore);
  const counting = pairs.filter(
    pair => Math.max(reference.scores[pair.reference] ?? 0, candidate.scores[pair.candidate] ?? 0) >= rule.minScore,
  );
  return {
    reference: countFrom(reference.scores, rule.minScore),
    candidate: countFrom(candidate.scores, rule.minScore),
    missed: lone(reference, missed),
    extra: lone(candidate, extra),
    partners: counting.map(pair => ({
      scoreDifference: Math.max(
        Math.abs((reference.scores[pair.reference] ?? 0) - (candidate.scores[pair.candidate] ?? 0)),
        Math.abs((reference.maskScores?.[pair.reference] ?? 0) - (candidate.maskScores?.[pair.candidate] ?? 0)),
      ),
      boxIou: pair.iou,
      maskIou: maskIouOf(findObjectMask(reference, pair.reference), findObjectMask(candidate, pair.candidate)),
    })),
  };
}

export function mergeDetectionComparisons(parts: readonly DetectionComparison[]): DetectionComparison {
  return {
    reference: parts.reduce((sum, part) => sum + part.reference, 0),
    candidate: parts.reduce((sum, part) => sum + part.candidate, 0),
    missed: parts.flatMap(part => part.missed),
    extra: parts.flatMap(part => part.extra),
    partners: parts.flatMap(part => part.partners),
  };
}

const share = (description: string) => number({ minimum: 0, maximum: 1 }, description);

/** Figures of a comparison. Without pairs, differences are 0 and IoUs 1; without objects, shares are 0. */
export const DETECTION_FIGURES_SCHEMA = openObject({
  reference: integer(0, 'Number of detections of the reference.'),
  candidate: integer(0, 'Number of detections of the candidate.'),
  matched: integer(0, 'Number of pairs.'),
  missed: integer(0, 'Detections of the reference without a partner.'),
  extra: integer(0, 'Detections of the candidate without a partner.'),
  missedShare: share('Missed detections, as a share of those of the reference.'),
  extraShare: share('Extra detections, as a share of those of the candidate.'),
  meanScoreDifference: number({ minimum: 0 }, 'Mean absolute difference of scores over all pairs.'),
  maxScoreDifference: number({ minimum: 0 }, 'Largest difference of scores.'),
  meanBoxIou: share('Mean box IoU over all pairs.'),
  minBoxIou: share('Smallest box IoU of a pair.'),
  meanMaskIou: share('Mean mask IoU over all pairs; two empty masks have 1.'),
  minMaskIou: share('Smallest mask IoU of a pair.'),
});

export type DetectionFigures = FromSchema<typeof DETECTION_FIGURES_SCHEMA>;

export function detectionFiguresOf({ reference, candidate, missed, extra, partners }: DetectionComparison): DetectionFigures {
  const all = (pick: (pair: Partners) => number): number[] => partners.map(pick);
  const mean = (values: readonly number[], otherwise: number): number =>
    values.length === 0 ? otherwise : values.reduce((sum, value) => sum + value, 0) / values.length;
  const [scores, boxes, masks] = [all(pair => pair.scoreDifference), all(pair => pair.boxIou), all(pair => pair.maskIou)];
  return {
    reference,
    candidate,
    matched: partners.length,
    missed: missed.length,
    extra: extra.length,
    missedShare: reference === 0 ? 0 : missed.length / reference,
    extraShare: candidate === 0 ? 0 : extra.length / candidate,
    meanScoreDifference: mean(scores, 0),
    maxScoreDifference: scores.reduce((most, value) => Math.max(most, value), 0),
    meanBoxIou: mean(boxes, 1),
    minBoxIou: boxes.reduce((least, value) => Math.min(least, value), 1),
    meanMaskIou: mean(masks, 1),
    minMaskIou: masks.reduce((least, value) => Math.min(least, value), 1),
  };
}

function describeObject(image: CocoId, { boxes, scores, labels }: DetectedObjects, index: number): LoneObject {
  return { image, label: labels[index] ?? 0, score: scores[index] ?? 0, box: [...boxes.subarray(4 * index, 4 * index + 4)] };
}

function countFrom(scores: Float32Array, least: number): number {
  return scores.filter(score => score >= least).length;
}

/** 1 for two empty masks and for two missing masks. */
function maskIouOf(a: Rle | undefined, b: Rle | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 1 : 0;
  return rleArea(a) === 0 && rleArea(b) === 0 ? 1 : rleIou(a, b);
}
