/** Semantic segmentation figures of masks: masks are painted into one class map per image, and pixels are compared. */

import { DetectionError } from '../error/detection-error.js';
import type { Rle } from '../masks/rle.js';
import { compareIds } from './coco-id.js';
import type { CocoCategory, CocoDataset, CocoImage } from './dataset.js';
import { describeDetection, describeTruth, type Region } from './region.js';
import { type CocoResult, compareScores, scoreOf } from './results.js';
import { groupByImage } from './subset.js';

export interface SemanticFigures {
  /** Share of all pixels with the correct class, background included. */
  readonly pixelAccuracy: number;
  /** Mean over classes of the share of correct pixels (mPA); −1 without pixels. */
  readonly meanAccuracy: number;
  /** Mean over classes of intersection over union (mIoU). */
  readonly meanIou: number;
  readonly classes: readonly ClassFigures[];
}

export interface ClassFigures {
  /** Undefined for the background. */
  readonly category: CocoCategory | undefined;
  readonly pixels: number;
  readonly detectedPixels: number;
  /** Undefined where the class has no pixels. */
  readonly accuracy: number | undefined;
  /** Undefined where neither ground truth nor detections have pixels of the class. */
  readonly iou: number | undefined;
}

/**
 * Paints two class maps per image. Ground truth: the annotations in the order of the file, including crowds; later ones cover earlier ones. Detections:
 * those with at least `minScore`, by ascending score, so that the best are on top. Unpainted pixels are background, which counts as a class. Pixels of all
 * images are counted together. mPA is the mean over classes of the ground truth, mIoU over classes of either map. Results of categories that the data set
 * does not have are ignored.
 * @throws DetectionError `coco-no-region`, `coco-segmentation` (a mask of another size than its image), `image-too-large`.
 * @see Long, Shelhamer, Darrell: Fully Convolutional Networks for Semantic Segmentation, CVPR 2015, section 5.
 */
export function measureSemantic(dataset: CocoDataset, results: readonly CocoResult[], minScore: number): SemanticFigures {
  const categories = dataset.categories.toSorted((a, b) => compareIds(a.id, b.id));
  const labels = new Map(categories.map(({ id }, index) => [id, index + 1]));
  const classes = categories.length + 1;
  const counts = new Float64Array(classes * classes);
  const truths = groupByImage(dataset.annotations);
  const found = groupByImage(results.filter(result => labels.has(result.categoryId) && scoreOf(result, 'segm') >= minScore));
  const most = dataset.images.reduce((pixels, image) => Math.max(pixels, countPaintable(image)), 0);
  // Two class maps, reused for every image.
  const canvas = new Uint16Array(2 * most);
  for (const image of dataset.images) {
    const pixels = image.width * image.height;
    const [truth, detected] = [canvas.subarray(0, pixels).fill(0), canvas.subarray(most, most + pixels).fill(0)];
    for (const annotation of truths.get(image.id) ?? [])
      paint(truth, image, describeTruth(annotation, image, 'segm').region, labels.get(annotation.categoryId) ?? 0);
    // Of equal scores, the first in the file is on top.
    for (const result of (found.get(image.id) ?? []).toSorted((a, b) => compareScores(scoreOf(a, 'segm'), scoreOf(b, 'segm'))).reverse())
      paint(detected, image, describeDetection(result, image, 'segm').region, labels.get(result.categoryId) ?? 0);
    countPixels(counts, classes, truth, detected);
  }
  return conclude(counts, [undefined, ...categories]);
}

const MOST_PIXELS = 1 << 28;

function countPaintable({ id, width, height }: CocoImage): number {
  if (width * height <= MOST_PIXELS) return width * height;
  throw new DetectionError('image-too-large', `image ${id} has ${width}×${height} pixels; the limit is ${MOST_PIXELS}`);
}

/** Class maps are column-major, like run lengths. */
function paint(picture: Uint16Array, { id, height, width }: CocoImage, region: Region, label: number): void {
  if (region.kind !== 'mask') return;
  const { rle } = region;
  if (rle.height !== height || rle.width !== width)
    throw new DetectionError('coco-segmentation', `image ${id} is ${height}×${width}, and a mask of it is ${rle.height}×${rle.width}`, {
      help: 'pixels are compared at the size of the image; write the mask at that size',
    });
  fillRuns(picture, rle, label);
}

function fillRuns(picture: Uint16Array, { counts }: Rle, label: number): void {
  let start = 0;
  for (let run = 0; run < counts.length; run++) {
    const end = start + (counts[run] as number);
    if (run % 2 === 1) picture.fill(label, start, end);
    start = end;
  }
}

/** Adds to the confusion matrix, row-major [truth, detected], one run of equal pixels at a time. */
function countPixels(counts: Float64Array, classes: number, truth: Uint16Array, detected: Uint16Array): void {
  for (let start = 0; start < truth.length; ) {
    const [a, b] = [truth[start] as number, detected[start] as number];
    let end = start + 1;
    while (end < truth.length && truth[end] === a && detected[end] === b) end++;
    counts[a * classes + b] = (counts[a * classes + b] as number) + end - start;
    start = end;
  }
}

function conclude(counts: Float64Array, categories: readonly (CocoCategory | undefined)[]): SemanticFigures {
  const classes = categories.map((category, c): ClassFigures & { readonly right: number } => {
    const row = counts.subarray(c * categories.length, (c + 1) * categories.length);
    const pixels = row.reduce((sum, count) => sum + count, 0);
    const detectedPixels = categories.reduce((sum, _, other) => sum + (counts[other * categories.length + c] as number), 0);
    const right = row[c] as number;
    const union = pixels + detectedPixels - right;
    return {
      category,
      pixels,
      detectedPixels,
      right,
      accuracy: pixels === 0 ? undefined : right / pixels,
      iou: union === 0 ? undefined : right / union,
    };
  });
  const sum = (of: (one: (typeof classes)[number]) => number): number => classes.reduce((total, one) => total + of(one), 0);
  const total = sum(({ pixels }) => pixels);
  return {
    pixelAccuracy: total === 0 ? -1 : sum(({ right }) => right) / total,
    meanAccuracy: mean(classes.flatMap(({ accuracy }) => accuracy ?? [])),
    meanIou: mean(classes.flatMap(({ iou }) => iou ?? [])),
    classes: classes.map(({ right: _, ...figures }) => figures),
  };
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? -1 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
