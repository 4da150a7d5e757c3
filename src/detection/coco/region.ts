/** Regions of objects and detections, as boxes or masks, and their overlap. */
import { DetectionError } from '../error/detection-error.js';
import { boundaryOf } from '../masks/boundary.js';
import { type Rle, rleArea, rleBox } from '../masks/rle.js';
import { intersectionArea, rleIou, type TruthKind } from '../masks/rle-combine.js';
import type { CocoId } from './coco-id.js';
import type { CocoAnnotation, CocoBox } from './dataset.js';
import { boxOfPoints, computeOks, type Keypoints } from './keypoints.js';
import { type IouType, type OverlapType, PERSON_SIGMAS } from './params.js';
import { type CocoResult, scoreOf } from './results.js';
import { type MaskCanvas, rasterize, type Segmentation } from './segmentation.js';

/** A box, a mask with its box and area, or keypoints. */
export type Region = BoxRegion | MaskRegion | KeypointRegion | MissingRegion;
interface BoxRegion {
  readonly kind: 'box';
  readonly box: CocoBox;
  readonly area: number;
}
interface MaskRegion {
  readonly kind: 'mask';
  readonly box: CocoBox;
  readonly area: number;
  readonly rle: Rle;
  /** Where overlap is measured on boundaries too: computed for masks that meet. */
  readonly boundary?: () => Rle;
}

interface KeypointRegion {
  readonly kind: 'keypoints';
  readonly box: CocoBox;
  readonly area: number;
  readonly points: readonly number[];
  /** Of the ground truth: the standard deviation per point. */
  readonly sigmas: readonly number[];
}

/** Keypoints that the file lacks. They are needed only where an object and a detection meet. */
interface MissingRegion {
  readonly kind: 'missing';
  readonly problem: DetectionError;
}

/** A ground-truth object. */
export interface Truth {
  readonly id: CocoId;
  readonly kind: TruthKind;
  /** Annotated area, which decides the size class. */
  readonly area: number;
  readonly region: Region;
  /** Set where the object is not counted although it is no crowd, such as one without a labeled keypoint. */
  readonly ignored?: true;
}

export interface Detection {
  readonly score: number;
  /** Area of the box where the result has one (see `boxOf`), else of the mask. Decides the size class. */
  readonly area: number;
  readonly region: Region;
}

/** @throws DetectionError `coco-no-region` where the annotation lacks the area, box or mask that `iouType` needs. */
export function describeTruth(
  annotation: CocoAnnotation,
  image: MaskCanvas,
  iouType: OverlapType,
  sigmas: readonly number[] = PERSON_SIGMAS,
): Truth {
  const { id, kind, area, box, segmentation } = annotation;
  const what = `annotation ${id}`;
  const ignored = annotation.ignored === true || (iouType === 'keypoints' && annotation.unlabeled === true);
  if (area === undefined && kind === 'object' && !ignored) throw noRegion(what, 'area');
  // What has no area counts in every size class: NaN is outside of none.
  const truth = { id, kind, area: area ?? Number.NaN, ...(ignored ? { ignored } : {}) };
  if (iouType === 'keypoints') return { ...truth, region: pointsRegion(annotation, what, sigmas) };
  if (iouType !== 'bbox') return { ...truth, region: maskRegion(what, undefined, segmentation, image, iouType) };
  if (box === undefined) throw noRegion(what, 'bbox');
  return { ...truth, region: boxRegion(box) };
}

/** The size of an object without an area is that of its box; pycocotools cannot compare it. */
function pointsRegion({ area, box, keypoints }: CocoAnnotation, what: string, sigmas: readonly number[]): Region {
  const points = readPoints(keypoints, what);
  if (points instanceof DetectionError) return { kind: 'missing', problem: points };
  if (box === undefined) return { kind: 'missing', problem: noRegion(what, 'bbox') };
  return { kind: 'keypoints', box, area: area ?? boxArea(box), points, sigmas };
}

function readPoints(keypoints: Keypoints | undefined, what: string): readonly number[] | DetectionError {
  return keypoints === undefined ? noRegion(what, 'keypoints') : (keypoints.invalid?.problem ?? keypoints.points);
}

/** @throws DetectionError `coco-no-region` where the result has neither box nor mask. */
export function describeDetection(result: CocoResult, image: MaskCanvas, iouType: OverlapType): Detection {
  const what = `a result of image ${image.id}`;
  if (iouType === 'keypoints') return describePoints(result, what);
  const box = boxOf(result, iouType);
  const score = scoreOf(result, iouType);
  if (box === undefined || result.sizedBy === 'mask') {
    const mask = maskRegion(what, undefined, result.segmentation, image, iouType);
    return { score, area: mask.area, region: iouType === 'bbox' ? boxRegion(box ?? mask.box) : mask };
  }
  const region = iouType === 'bbox' ? boxRegion(box) : maskRegion(what, box, result.segmentation, image, iouType);
  return { score, area: boxArea(box), region };
}

/** As in pycocotools, the box decides the size class where there is one, else the extent of the points. */
function describePoints({ keypoints, box, score }: CocoResult, what: string): Detection {
  const points = readPoints(keypoints, what);
  if (points instanceof DetectionError) {
    if (box === undefined) throw points;
    return { score, area: boxArea(box), region: { kind: 'missing', problem: points } };
  }
  const own = box ?? boxOfPoints(points);
  return { score, area: boxArea(own), region: { kind: 'keypoints', box: own, area: boxArea(own), points, sigmas: [] } };
}

/**
 * Intersection over union, or over the detection's area where the truth is a crowd; 0 where they do not overlap. Masks of different sizes have −1 where
 * their boxes overlap. @throws the problem of keypoints that a file lacks. Boxes with NaN give what the COCO API computes: the smaller and the larger of a number and NaN are the number.
 */
export function overlap(detection: Region, truth: Region, kind: TruthKind): number {
  if (detection.kind === 'missing') throw detection.problem;
  if (truth.kind === 'missing') throw truth.problem;
  if (detection.kind === 'keypoints' && truth.kind === 'keypoints') return computeOks(detection.points, truth);
  const shared = intersectBoxes(detection.box, truth.box);
  if (shared === undefined) return 0;
  if (detection.kind !== 'mask' || truth.kind !== 'mask') return divide(shared, detection, truth, kind);
  if (detection.rle.height !== truth.rle.height || detection.rle.width !== truth.rle.width) return -1;
  const pixels = intersectionArea(detection.rle, truth.rle);
  if (pixels === 0) return 0;
  const iou = divide(pixels, detection, truth, kind);
  // The mask of a crowd does not show the outlines of its objects.
  return detection.boundary === undefined || truth.boundary === undefined || kind === 'crowd'
    ? iou
    : Math.min(iou, rleIou(detection.boundary(), truth.boundary()));
}

function divide(shared: number, detection: Sized, truth: Sized, kind: TruthKind): number {
  return shared / (kind === 'crowd' ? detection.area : detection.area + truth.area - shared);
}

interface Sized {
  readonly area: number;
}

/** Undefined where the boxes do not overlap. */
function intersectBoxes(a: CocoBox, b: CocoBox): number | undefined {
  const width = lesser(a[0] + a[2], b[0] + b[2]) - greater(a[0], b[0]);
  const height = lesser(a[1] + a[3], b[1] + b[3]) - greater(a[1], b[1]);
  return width <= 0 || height <= 0 ? undefined : width * height;
}

function lesser(a: number, b: number): number {
  return a < b || Number.isNaN(b) ? a : b;
}

function greater(a: number, b: number): number {
  return a > b || Number.isNaN(b) ? a : b;
}

/** A result with a separate mask score is evaluated as two results: a box and a mask. */
function boxOf({ box, segmentation, maskScore }: CocoResult, iouType: IouType): CocoBox | undefined {
  return iouType !== 'bbox' && maskScore !== undefined && segmentation !== undefined ? undefined : box;
}

/** The mask; where there is none, the rectangle of `box`. */
function maskRegion(
  what: string,
  box: CocoBox | undefined,
  segmentation: Segmentation | undefined,
  image: MaskCanvas,
  iouType: IouType,
): MaskRegion {
  const drawn = segmentation ?? (box === undefined ? undefined : rectangle(box));
  if (drawn === undefined) throw noRegion(what, 'segmentation');
  const rle = rasterize(drawn, image);
  let known: Rle | undefined;
  const boundary = (): Rle => {
    known ??= boundaryOf(rle);
    return known;
  };
  return { kind: 'mask', rle, box: rleBox(rle), area: rleArea(rle), ...(iouType === 'boundary' ? { boundary } : {}) };
}

function rectangle([x, y, width, height]: CocoBox): Segmentation {
  return { kind: 'polygons', polygons: [[x, y, x, y + height, x + width, y + height, x + width, y]] };
}

function boxRegion(box: CocoBox): BoxRegion {
  return { kind: 'box', box, area: boxArea(box) };
}

function boxArea([, , width, height]: CocoBox): number {
  return width * height;
}

function noRegion(what: string, member: string): DetectionError {
  return new DetectionError('coco-no-region', `${what} has no ${member}, which these figures need`);
}
