/** Runs the parts of a detector on recorded inputs, in one session of the whole model. */

import { momentsOf, standardDeviationOf } from '../../src/tensor/compare.js';
import type { NpzArchive } from '../../src/tensor/formats/npz.js';
import type { Tensor } from '../../src/tensor/tensor.js';

/** The outputs of a Mask R-CNN's parts, in the order of its recipe. */
export const PART_OUTPUTS: readonly string[] = [
  ...[0, 1, 2, 3].map(level => `feature_${level}`),
  ...[0, 1, 2, 3, 4].map(level => `objectness_${level}`),
  ...[0, 1, 2, 3, 4].map(level => `rpn_deltas_${level}`),
  'class_logits',
  'box_regression',
  'mask_logits',
];

/** Largest absolute difference over the standard deviation of `reference`. NaN where an element is no number. */
export function relativeError(reference: Float32Array, actual: ArrayLike<number>): number {
  if (reference.length !== actual.length) return Number.NaN;
  let worst = 0;
  for (const [index, value] of reference.entries()) {
    const difference = Math.abs(value - (actual[index] ?? Number.NaN));
    if (!(difference <= worst)) worst = difference;
  }
  return worst / standardDeviationOf(momentsOf(reference));
}

/** What the parts are fed: recorded inputs of each, so that an error of one does not reach the next. */
export function recordedFeeds(stages: NpzArchive): Record<string, Tensor> {
  return {
    image: stages.getFloat32('input'),
    box_features: stages.getFloat32('box_features'),
    mask_features: stages.getFloat32('mask_features'),
  };
}
