/** Makes the host recipe of a Mask R-CNN, with the value names that all exported and cut parts have. */

import type { FitPolicy } from '../../detector/detector-family.js';
import type { RoiBatch } from '../../detector/detector-part.js';
import type { ImageSize } from '../../image/image-size.js';
import type { DetectorConfig } from './config.js';
import type { InputSize, MaskRcnnRecipe, PyramidLevel } from './recipe.js';

/** Stride of the finest pyramid level. The strides are 4, 8, 16, 32, and 64 for the pooled level. */
export const FINEST_STRIDE = 4;

/** @see torchvision MultiScaleRoIAlign: canonical_scale and canonical_level. */
const ROI_ASSIGNMENT = { canonicalScale: 224, canonicalLevel: 4 } as const;

export type LevelNames = Pick<PyramidLevel, 'feature' | 'objectness' | 'deltas'>;

/** A level without its stride, which follows from its index. */
export type BuiltLevel = Omit<PyramidLevel, 'stride'>;

/** Value names of pyramid level `level`, counted from 0 for the finest. The pooled level has no feature. */
export function levelNames(level: number, feature: 'feature' | 'none'): LevelNames {
  return { feature: feature === 'none' ? 'none' : `feature_${level}`, objectness: `objectness_${level}`, deltas: `rpn_deltas_${level}` };
}

export interface RecipeOptions {
  readonly height: number;
  readonly width: number;
  readonly roiBatch: { readonly box: RoiBatch; readonly mask: RoiBatch };
  readonly fit: FitPolicy;
  /** Default: 'fixed'. */
  readonly size?: InputSize | undefined;
}

export function makeRecipe(built: readonly BuiltLevel[], channels: number, config: DetectorConfig, options: RecipeOptions): MaskRcnnRecipe {
  const levels = built.map((level, index) => ({ stride: FINEST_STRIDE * 2 ** index, ...level }));
  const { box, mask } = config;
  return {
    format: 'tanren-recipe',
    version: 1,
    architecture: 'maskrcnn',
    image: { value: 'image', height: options.height, width: options.width, size: options.size ?? 'fixed', fit: options.fit },
    parts: {
      backbone: {
        inputs: ['image'],
        outputs: [
          ...levels.flatMap(({ feature }) => (feature === 'none' ? [] : [feature])),
          ...levels.map(({ objectness }) => objectness),
          ...levels.map(({ deltas }) => deltas),
        ],
      },
      box_head: { inputs: ['box_features'], outputs: ['class_logits', 'box_regression'] },
      mask_head: { inputs: ['mask_features'], outputs: ['mask_logits'] },
    },
    levels,
    roi: ROI_ASSIGNMENT,
    boxHead: {
      input: 'box_features',
      channels,
      size: box.roiSize,
      samplingRatio: box.samplingRatio,
      batch: options.roiBatch.box,
      classLogits: 'class_logits',
      boxRegression: 'box_regression',
    },
    maskHead: {
      input: 'mask_features',
      channels,
      size: mask.roiSize,
      samplingRatio: mask.samplingRatio,
      batch: options.roiBatch.mask,
      maskLogits: 'mask_logits',
    },
    config,
  };
}

/** Size of a level's maps for an input size. Each halving rounds up. */
export function sizeOfLevel({ stride }: Pick<PyramidLevel, 'stride'>, { height, width }: ImageSize): ImageSize {
  return { height: Math.ceil(height / stride), width: Math.ceil(width / stride) };
}
