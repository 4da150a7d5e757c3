/** Thresholds, area ranges and detection counts of the COCO figures. */
import { DetectionError } from '../error/detection-error.js';

/** Whether overlap is measured on boxes, on masks, or on masks and their boundaries, of which the smaller one counts. */
export type IouType = 'bbox' | 'segm' | 'boundary';

/** What overlap is measured on; for keypoints it is the object keypoint similarity (OKS). */
export type OverlapType = IouType | 'keypoints';

export interface AreaRange {
  readonly label: 'all' | 'small' | 'medium' | 'large';
  /** In pixels, both inclusive. */
  readonly low: number;
  readonly high: number;
}

export interface CocoParams {
  readonly iouThresholds: readonly number[];
  readonly recallThresholds: readonly number[];
  /** Numbers of best detections per image and category that count: three, ascending. */
  readonly maxDetections: readonly number[];
  readonly areaRanges: readonly AreaRange[];
  /** 'merged': a detection may match an object of any category. */
  readonly categories: 'separate' | 'merged';
  /** Of keypoints: the standard deviation of each point, as a share of the object's size. Default: those of COCO's 17 points. */
  readonly sigmas?: readonly number[];
}

/** The values of the COCO detection challenge: IoU .50 to .95, 101 recall points, 1, 10 and 100 detections, areas split at 32² and 96². */
export const COCO_PARAMS: CocoParams = {
  iouThresholds: spaced(0.5, 0.95, 10),
  recallThresholds: spaced(0, 1, 101),
  maxDetections: [1, 10, 100],
  areaRanges: splitAreas([32, 96]),
  categories: 'separate',
};

/** The standard deviations of COCO's 17 points of a person, in the order of the files. */
export const PERSON_SIGMAS: readonly number[] = [
  0.026, 0.025, 0.025, 0.035, 0.035, 0.079, 0.079, 0.072, 0.072, 0.062, 0.062, 0.107, 0.107, 0.087, 0.087, 0.089, 0.089,
];

/** The values of the COCO keypoint challenge: 20 detections; small objects have no keypoints. The smaller counts have no figure. */
export const KEYPOINT_PARAMS: CocoParams = {
  ...COCO_PARAMS,
  maxDetections: [1, 10, 20],
  areaRanges: COCO_PARAMS.areaRanges.filter(({ label }) => label !== 'small'),
  sigmas: PERSON_SIGMAS,
};

/** The four area ranges, separated at the areas of squares with these sides. */
export function splitAreas([small, large]: readonly [number, number]): readonly AreaRange[] {
  return [
    { label: 'all', low: 0, high: 1e10 },
    { label: 'small', low: 0, high: small ** 2 },
    { label: 'medium', low: small ** 2, high: large ** 2 },
    { label: 'large', low: large ** 2, high: 1e10 },
  ];
}

/** @throws DetectionError `coco-params` unless there is an IoU threshold and there are three ascending detection counts. */
export function checkCocoParams({ iouThresholds, maxDetections }: CocoParams): void {
  const ascending = maxDetections.every((count, i) => Number.isSafeInteger(count) && count > (maxDetections[i - 1] ?? 0));
  if (maxDetections.length !== 3 || !ascending)
    throw new DetectionError('coco-params', `maxDetections should be three ascending counts, it is [${maxDetections.join(', ')}]`);
  if (iouThresholds.length === 0) throw new DetectionError('coco-params', 'iouThresholds is empty');
}

/** `count` evenly spaced values with the bits of `numpy.linspace`: start + i · step, the last one exactly `stop`. */
function spaced(start: number, stop: number, count: number): readonly number[] {
  const step = (stop - start) / (count - 1);
  return Array.from({ length: count }, (_, i) => (i === count - 1 ? stop : i * step + start));
}
