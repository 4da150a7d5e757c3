/** The host recipe of torchvision's Mask R-CNN, and its reader. */
import { constant, integer, list, object, oneOf, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf, withChecks } from '../../../base/schema/schema-reader.js';
import { ROI_BATCH_SCHEMA } from '../../detector/detector-part.js';
import { RECIPE_FORMAT } from '../../detector/host-recipe.js';
import { PART_VALUES_SCHEMA } from '../../detector/part-values.js';
import { checkDetectorConfig, DETECTOR_CONFIG_SCHEMA } from './config.js';

const IMAGE_SCHEMA = object({
  /** float32 [1, 3, height, width], R G B, normalized by the config's mean and std, padded with zeros on the right and at the bottom. */
  value: text('Input of the backbone.'),
  height: integer(1),
  width: integer(1),
  size: oneOf(
    ['fixed', 'free'],
    'fixed: the backbone takes this height and width only. free: any multiples of 32; height and width apply to the fit policy static.',
  ),
  fit: oneOf(['static', 'torchvision'], 'Default policy for images of other sizes.'),
});

export type ImageInput = FromSchema<typeof IMAGE_SCHEMA>;

export type InputSize = ImageInput['size'];

const LEVEL_SCHEMA = object({
  stride: integer(1, "Nominal pixels per cell; RoIAlign's scale is 1 / stride."),
  /** Anchors use floor(input / level size), which can differ from the stride on the last level. */
  height: integer(1, "Height of the level's maps at the recipe's input size."),
  width: integer(1, "Width of the level's maps at the recipe's input size."),
  feature: text('Output [1, C, height, width] that RoIs are pooled from; absent if the level only provides proposals.'),
  objectness: text('Output [1, A, height, width], before permute, reshape and sigmoid.'),
  deltas: text('Output [1, 4A, height, width], before permute and reshape.'),
});

export type PyramidLevel = FromSchema<typeof LEVEL_SCHEMA>;

const ROI_SCHEMA = object({ canonicalScale: integer(1), canonicalLevel: integer(0) });

/**
 * Assigns an RoI to level k = floor(canonicalLevel + log2(sqrt(area) / canonicalScale) + 1e-6), clipped to the levels with a feature. The level of the
 * finest is log2 of its stride. (Lin et al., Feature Pyramid Networks, equation 1, as computed by torchvision's LevelMapper.)
 */
export type RoiAssignment = FromSchema<typeof ROI_SCHEMA>;

export const ROI_HEAD_FIELDS = {
  input: text("The part's input: float32 [batch, channels, size, size]."),
  channels: integer(1),
  size: integer(1),
  samplingRatio: integer(1),
  batch: ROI_BATCH_SCHEMA,
} as const;

const ROI_HEAD_SCHEMA = object(ROI_HEAD_FIELDS);

export type RoiHead = FromSchema<typeof ROI_HEAD_SCHEMA>;

/** The fields that the recipes of Mask R-CNN and its extensions share. */
export const NETWORK_FIELDS = {
  ...RECIPE_FORMAT,
  image: IMAGE_SCHEMA,
  levels: list(LEVEL_SCHEMA, 'Finest first. The last level has no feature output; it only provides proposals.'),
  roi: ROI_SCHEMA,
  boxHead: object({ ...ROI_HEAD_FIELDS, classLogits: text(), boxRegression: text() }),
  maskHead: object({ ...ROI_HEAD_FIELDS, maskLogits: text() }),
  /** A config that is connected to a later stage replaces it. */
  config: DETECTOR_CONFIG_SCHEMA,
} as const;

export const NETWORK_PARTS = { backbone: PART_VALUES_SCHEMA, box_head: PART_VALUES_SCHEMA, mask_head: PART_VALUES_SCHEMA } as const;

export const MASK_RCNN_RECIPE_SCHEMA = object({ ...NETWORK_FIELDS, architecture: constant('maskrcnn'), parts: object(NETWORK_PARTS) });

/**
 * torchvision's Mask R-CNN. The host prepares the image, runs `backbone`, computes proposals, pools RoIs, runs `box_head`, selects detections, pools
 * their RoIs, runs `mask_head`, and pastes the masks.
 */
export type MaskRcnnRecipe = FromSchema<typeof MASK_RCNN_RECIPE_SCHEMA>;

export const maskRcnnRecipeReader = withChecks(readerOf(MASK_RCNN_RECIPE_SCHEMA), checkRecipeConfig);

/** Checks of the recipe's own config. */
export function checkRecipeConfig({ config }: Pick<MaskRcnnRecipe, 'config'>) {
  return checkDetectorConfig(config).map(({ path, message }) => ({ path: `config.${path}`, message }));
}
