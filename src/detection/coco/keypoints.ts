/** Keypoints of objects, and the similarity of two sets of them (OKS). */
import { isJsonList, type JsonObject } from '../../base/json.js';
import { DetectionError } from '../error/detection-error.js';
import { badField, member, type Place } from './reading.js';

/** The points of one object. */
export interface Keypoints {
  /** x, y and visibility of each point; a point of the ground truth with visibility 0 is not labeled. */
  readonly points: readonly number[];
  /** `num_keypoints` of an annotation: an object with 0 is not counted. */
  readonly labeled: number;
}

/** Parses `keypoints` and `num_keypoints`; nothing where there are none. @throws DetectionError `coco-field`. */
export function parseKeypoints(object: JsonObject, place: Place): { readonly keypoints?: Keypoints } {
  const points = member(object, 'keypoints');
  if (points === undefined || points === null || (isJsonList(points) && points.length === 0)) return {};
  if (!isJsonList(points) || points.length % 3 !== 0 || !points.every(value => typeof value === 'number'))
    throw badField(`${place}.keypoints`, 'a list of x, y and visibility per point', points);
  const numbers = points as readonly number[];
  const stated = member(object, 'num_keypoints');
  const visible = numbers.filter((value, index) => index % 3 === 2 && value > 0).length;
  return { keypoints: { points: numbers, labeled: typeof stated === 'number' ? stated : visible } };
}

/** The smallest box around all points: x, y, width, height. */
export function boxOfPoints({ points }: Keypoints): readonly [number, number, number, number] {
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
