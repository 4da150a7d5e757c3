/** Converts found objects to COCO results, with masks as run lengths at the size of the image. */
import type { CocoId } from '../coco/coco-id.js';
import type { CocoResult } from '../coco/results.js';
import type { DetectedObjects } from './detector.js';
import { findObjectMask } from './object-masks.js';

/** All objects of an image, in their order. */
export function makeCocoResults(imageId: CocoId, objects: DetectedObjects): CocoResult[] {
  const { maskScores } = objects;
  return Array.from(objects.scores, (score, index) => {
    const mask = findObjectMask(objects, index);
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = objects.boxes.subarray(4 * index, 4 * index + 4);
    return {
      imageId,
      categoryId: objects.labels[index] ?? 0,
      score,
      maskScore: maskScores?.[index],
      box: [x1, y1, Math.fround(x2 - x1), Math.fround(y2 - y1)] as const,
      ...keypointsOf(objects, index),
      segmentation: mask === undefined ? undefined : ({ kind: 'rle', rle: mask } as const),
    };
  });
}

function keypointsOf({ keypoints }: DetectedObjects, index: number): Pick<CocoResult, 'keypoints'> {
  if (keypoints === undefined) return {};
  const size = 3 * keypoints.count;
  return { keypoints: { points: Array.from(keypoints.data.subarray(size * index, size * (index + 1))) } };
}
