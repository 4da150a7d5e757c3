/** Selects detections from the outputs of the box head. Source: torchvision RoIHeads.postprocess_detections. */
import { softmaxRows } from '../../detector/activations.js';
import { decodeBoxes } from '../../geometry/box-coder.js';
import { type Boxes, clipBoxes, findLargeBoxes, gatherBoxes } from '../../geometry/boxes.js';
import { batchedNonMaximumSuppression } from '../../geometry/nms.js';
import type { ImageSize } from '../../image/image-size.js';
import type { BoxConfig } from './config.js';

/** Minimum side of a detected box, in pixels. */
const MIN_SIDE = 1e-2;

/** Detections of one image, by falling score. */
export interface BoxDetections {
  /** In pixels of the resized image. */
  readonly boxes: Boxes;
  readonly scores: Float32Array;
  /** 1 … classes − 1. */
  readonly labels: Int32Array;
}

export interface BoxPredictions {
  /** In pixels of the resized image. */
  readonly rois: Boxes;
  /** [RoIs, classes] */
  readonly classLogits: Float32Array;
  /** [RoIs, classes, 4] */
  readonly boxRegression: Float32Array;
  /** Background included. */
  readonly classes: number;
}

/**
 * Applies softmax, decodes one box per class, clips it to `resized`, and keeps boxes of sufficient score and size. Then non-maximum suppression within each
 * class, and the best `detectionsPerImage`.
 */
export function selectDetections(predictions: BoxPredictions, resized: ImageSize, config: BoxConfig): BoxDetections {
  const { rois, classes } = predictions;
  const probabilities = softmaxRows(predictions.classLogits, classes);
  const likely = findLikely(probabilities, classes, config.scoreThreshold);
  const decoded = decodeBoxes(
    gatherBoxes(predictions.boxRegression, likely),
    gatherBoxes(
      rois,
      Int32Array.from(likely, index => Math.floor(index / classes)),
    ),
    config.regressionWeights,
  );
  const clipped = clipBoxes(decoded, resized);
  const large = findLargeBoxes(clipped, MIN_SIDE);
  const boxes = gatherBoxes(clipped, large);
  const scores = Float32Array.from(large, row => probabilities[likely[row] as number] as number);
  const labels = Int32Array.from(large, row => (likely[row] as number) % classes);
  const kept = batchedNonMaximumSuppression(boxes, scores, labels, config.nmsThreshold, config.detectionsPerImage);
  return {
    boxes: gatherBoxes(boxes, kept),
    scores: Float32Array.from(kept, index => scores[index] as number),
    labels: Int32Array.from(kept, index => labels[index] as number),
  };
}

/** Indices (RoI · classes + label) of the probabilities above the threshold, without the background. */
function findLikely(probabilities: Float32Array, classes: number, threshold: number): number[] {
  const likely: number[] = [];
  for (let index = 0; index < probabilities.length; index++) {
    if (index % classes !== 0 && (probabilities[index] as number) > threshold) likely.push(index);
  }
  return likely;
}
