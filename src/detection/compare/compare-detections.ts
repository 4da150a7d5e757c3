/** Compares the detections of two detectors. Objects are matched by class and box IoU, independent of their order. */
import type { CocoId } from '../coco/coco-id.js';
import type { DetectedObjects } from '../detector/detector.js';
import { findObjectMask } from '../detector/object-masks.js';
import { type Rle, rleArea } from '../masks/rle.js';
import { rleIou } from '../masks/rle-combine.js';
import type { DetectionFigures, LoneObject } from './detection-figures.js';
import { matchDetections } from './match-detections.js';

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
