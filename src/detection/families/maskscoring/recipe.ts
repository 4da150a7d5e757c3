/** The host recipe of Mask Scoring R-CNN: that of Mask R-CNN, with a fourth part that predicts the quality of each mask. */
import { fields, type JsonReader, literal, text } from '../../../base/json-shape.js';
import { type PartValues, partValuesReader } from '../../detector/part-values.js';
import { type MaskRcnnRecipe, networkPartReaders, networkReaders, type RoiHead, roiHeadReaders } from '../maskrcnn/recipe.js';
import type { MaskScoringPart } from './part-names.js';

/**
 * Mask Scoring R-CNN on torchvision's Mask R-CNN. After `mask_head` the host takes the sigmoid of each detection's mask, pools it 2×2, and runs
 * `maskiou_head` on the mask head's features and the pooled mask; masks are ranked by class score times predicted IoU, boxes by class score.
 */
export interface MaskScoringRecipe extends Omit<MaskRcnnRecipe, 'architecture' | 'parts'> {
  readonly architecture: 'maskscoring';
  readonly parts: Readonly<Record<MaskScoringPart, PartValues>>;
  readonly maskIouHead: MaskIouHead;
}

export interface MaskIouHead extends RoiHead {
  /** Second input: float32 [batch, 1, size, size]. */
  readonly maskProbability: string;
  /** Output: float32 [batch, classes]. */
  readonly maskIou: string;
}

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

export const maskScoringRecipeReader: JsonReader<MaskScoringRecipe> = fields<MaskScoringRecipe>({
  ...networkReaders,
  architecture: literal('maskscoring'),
  parts: fields<MaskScoringRecipe['parts']>({ ...networkPartReaders, maskiou_head: partValuesReader }),
  maskIouHead: fields<MaskIouHead>({ ...roiHeadReaders, maskProbability: text(), maskIou: text() }),
});
