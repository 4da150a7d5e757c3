/** Keypoints of objects, and the similarity of two sets of them (OKS). */
import { isJsonList, type Json, type JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';
import type { NoteOddity } from './oddities.js';
import { asNumber, asNumbers, badField, member, type Place } from './reading.js';

/** The points of one object. */
export interface Keypoints {
  /** x, y and visibility of each point; a point of the ground truth with visibility 0 is not labeled. */
  readonly points: readonly number[];
  /** Set where the file has no such list here: `problem` is thrown where the points are needed, and `points` is empty. */
  readonly invalid?: { readonly problem: DetectionError; readonly json: Json };
}

/** Parses `keypoints`; nothing where there are none. What is no list of points becomes `invalid`: only figures of keypoints need it. */
export function parseKeypoints(object: JsonObject, place: Place, note: NoteOddity): { readonly keypoints?: Keypoints } {
  const json = member(object, 'keypoints');
  if (json === undefined || json === null || (isJsonList(json) && json.length === 0)) return {};
  const points = asNumbers(json);
  if (points !== undefined && points.length % 3 === 0) return { keypoints: { points } };
  const problem = badField(`${place}.keypoints`, 'a list of x, y and visibility per point', json);
  note('keypoints-invalid', problem.message);
  return { keypoints: { points: [], invalid: { problem, json } } };
}

/** Whether figures of keypoints leave an annotation out: `num_keypoints` is 0 or, where the file does not state it, no point is visible. */
export function isUnlabeled(object: JsonObject, keypoints: Keypoints | undefined): boolean {
  const stated = member(object, 'num_keypoints');
  if (stated !== undefined) return asNumber(stated) === 0;
  return (
    keypoints !== undefined && keypoints.invalid === undefined && !keypoints.points.some((value, index) => index % 3 === 2 && value > 0)
  );
}

/** The smallest box around all points: x, y, width, height. */
export function boxOfPoints(points: readonly number[]): readonly [number, number, number, number] {
  const [xs, ys] = [0, 1].map(axis => points.filter((_, index) => index % 3 === axis)) as [number[], number[]];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return [left, top, Math.max(...xs) - left, Math.max(...ys) - top];
}

/** The annotated object that detections are compared with. */
export interface KeypointTruth {
  readonly points: readonly number[];
  /** x, y, width, height: decides where no point is labeled. */
  readonly box: readonly [number, number, number, number];
  /** In pixels: the square of the object's size. */
  readonly area: number;
  /** Per point. */
  readonly sigmas: readonly number[];
}

/**
 * Object keypoint similarity: the mean over the labeled points of e^(−d² / (2 · area · (2σ)²)). Where no point is labeled, d is the distance to a box of three
 * times the size, for all points.
 * @throws DetectionError `coco-keypoints` where the numbers of points differ.
 * @see cocodataset.org, keypoint evaluation; pycocotools' `computeOks`.
 */
export function computeOks(detected: readonly number[], { points, box, area, sigmas }: KeypointTruth): number {
  assertCounts(detected, points, sigmas);
  const isLabeled = points.some((value, index) => index % 3 === 2 && value > 0);
  const similarities: number[] = [];
  for (const [index, sigma] of sigmas.entries()) {
    const [x = 0, y = 0, visible = 0] = points.slice(3 * index, 3 * index + 3);
    if (isLabeled && !(visible > 0)) continue;
    const [ownX = 0, ownY = 0] = detected.slice(3 * index, 3 * index + 2);
    const [dx, dy] = isLabeled ? [ownX - x, ownY - y] : [outsideOf(ownX, box[0], box[2]), outsideOf(ownY, box[1], box[3])];
    similarities.push(Math.exp(-((dx ** 2 + dy ** 2) / (2 * sigma) ** 2 / (area + Number.EPSILON) / 2)));
  }
  return sumPairwise(similarities) / similarities.length;
}

/** The distance to a range of three times the side, around it. */
function outsideOf(value: number, start: number, side: number): number {
  return Math.max(0, start - side - value) + Math.max(0, value - (start + 2 * side));
}

/** The sum with the rounding of numpy for fewer than 128 values: eight sums side by side, then the rest. */
function sumPairwise(values: readonly number[]): number {
  if (values.length < 8) return values.reduce((sum, value) => sum + value, 0);
  const sums = values.slice(0, 8);
  const whole = values.length - (values.length % 8);
  for (let i = 8; i < whole; i++) sums[i % 8] = (sums[i % 8] as number) + (values[i] as number);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = sums;
  return values.slice(whole).reduce((sum, value) => sum + value, a + b + (c + d) + (e + f + (g + h)));
}

function assertCounts(detected: readonly number[], points: readonly number[], sigmas: readonly number[]): void {
  const odd = [points, detected].find(one => one.length !== 3 * sigmas.length);
  if (odd === undefined) return;
  throw new DetectionError(
    'coco-keypoints',
    `an object has ${odd.length / 3} keypoints, and there are ${sigmas.length} standard deviations`,
    {
      help: 'give one standard deviation per point: --sigmas',
    },
  );
}
