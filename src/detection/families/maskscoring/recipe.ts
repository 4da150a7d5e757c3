/** The host recipe of Mask Scoring R-CNN: that of Mask R-CNN, with a fourth part that predicts the quality of each mask. */
import { constant, object, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf, withChecks } from '../../../base/schema/schema-reader.js';
import { PART_VALUES_SCHEMA } from '../../detector/part-values.js';
import {
  checkRecipeConfig,
  type MaskRcnnRecipe,
  NETWORK_FIELDS,
  NETWORK_PARTS,
  ROI_HEAD_FIELDS,
  type RoiHead,
} from '../maskrcnn/recipe.js';

const MASK_IOU_HEAD_SCHEMA = object({
  ...ROI_HEAD_FIELDS,
  maskProbability: text('Second input: float32 [batch, 1, size, size].'),
  maskIou: text('Output: float32 [batch, classes].'),
});

export type MaskIouHead = FromSchema<typeof MASK_IOU_HEAD_SCHEMA>;

export const MASK_SCORING_RECIPE_SCHEMA = object({
  ...NETWORK_FIELDS,
  architecture: constant('maskscoring'),
  parts: object({ ...NETWORK_PARTS, maskiou_head: PART_VALUES_SCHEMA }),
  maskIouHead: MASK_IOU_HEAD_SCHEMA,
});

/**
 * Mask Scoring R-CNN on torchvision's Mask R-CNN. After `mask_head` the host takes the sigmoid of each detection's mask, pools it 2×2, and runs
 * `maskiou_head` on the mask head's features and the pooled mask; masks are ranked by class score times predicted IoU, boxes by class score.
 */
export type MaskScoringRecipe = FromSchema<typeof MASK_SCORING_RECIPE_SCHEMA>;

export const maskScoringRecipeReader = withChecks(readerOf(MASK_SCORING_RECIPE_SCHEMA), checkRecipeConfig);

/** Adds the MaskIoU head to the recipe of a Mask R-CNN. */
export function makeMaskScoringRecipe(network: MaskRcnnRecipe, batch: RoiHead['batch']): MaskScoringRecipe {
  const { channels, size, samplingRatio } = network.maskHead;
  return {
    ...network,
    architecture: 'maskscoring',
    parts: { ...network.parts, maskiou_head: { inputs: ['maskiou_features', 'mask_probability'], outputs: ['mask_iou'] } },
    maskIouHead: {
      input: 'maskiou_features',
      channels,
      size,
      samplingRatio,
      batch,
      maskProbability: 'mask_probability',
      maskIou: 'mask_iou',
    },
  };
}

/** The recipe of the Mask R-CNN without the MaskIoU head. */
export function withoutMaskIouHead({ maskIouHead: _, ...recipe }: MaskScoringRecipe): MaskRcnnRecipe {
  const { backbone, box_head, mask_head } = recipe.parts;
  return { ...recipe, architecture: 'maskrcnn', parts: { backbone, box_head, mask_head } };
}
