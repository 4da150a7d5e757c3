/** What does the host have to know to join the parts of a torchvision Mask R-CNN? The recipe, and the names that its values have in every part of ours. */

import type { FitPolicy } from '../../detector/detector-family.js';
import type { RoiBatch } from '../../detector/detector-part.js';
import type { ImageSize } from '../../image/image-size.js';
import type { DetectorConfig } from './config.js';
import type { InputSize, MaskRcnnRecipe, PyramidLevel } from './recipe.js';

/** Pyramid levels have strides 4, 8, 16, 32 and, for the pooled one, 64. */
export const FINEST_STRIDE = 4;

/** @see torchvision MultiScaleRoIAlign: canonical_scale and canonical_level. */
const ROI_ASSIGNMENT = { canonicalScale: 224, canonicalLevel: 4 } as const;

export type LevelNames = Pick<PyramidLevel, 'feature' | 'objectness' | 'deltas'>;

/** A level without its stride, which follows from its place. */
export type BuiltLevel = Omit<PyramidLevel, 'stride'>;

/** The values of pyramid level `level`, finest 0; the pooled level has no feature. */
export function levelNames(level: number, feature: 'feature' | 'none'): LevelNames {
  return { feature: feature === 'none' ? 'none' : `feature_${level}`, objectness: `objectness_${level}`, deltas: `rpn_deltas_${level}` };
}

export interface RecipeOptions {
  readonly height: number;
  readonly width: number;
  readonly roiBatch: { readonly box: RoiBatch; readonly mask: RoiBatch };
  readonly fit: FitPolicy;
  /** Fixed where absent. */
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

/** The size of a level's maps for an input of so many pixels: each halving rounds up. */
export function sizeOfLevel({ stride }: Pick<PyramidLevel, 'stride'>, { height, width }: ImageSize): ImageSize {
  return { height: Math.ceil(height / stride), width: Math.ceil(width / stride) };
}
