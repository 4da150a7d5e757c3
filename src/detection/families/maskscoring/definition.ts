/** How is Mask Scoring R-CNN set, and what do its networks take and give? As Mask R-CNN, with a fourth network. */
import type { Json } from '../../../base/json.js';
import type { DetectorPart, RoiPart } from '../../detector/detector-part.js';
import { type MaskRcnnSetup, readMaskRcnnSetup } from '../maskrcnn/definition.js';
import { listMaskRcnnParts } from '../maskrcnn/list-parts.js';
import type { FitPolicy } from '../maskrcnn/recipe.js';
import { type MaskScoringRecipe, withoutMaskIouHead } from './recipe.js';

export interface MaskScoringSetup extends Omit<MaskRcnnSetup, 'architecture' | 'recipe'> {
  readonly architecture: 'maskscoring';
  readonly recipe: MaskScoringRecipe;
}

/** @throws DetectionError `bad-config`, `config-mismatch`. */
export function readMaskScoringSetup(recipe: MaskScoringRecipe, config: Json | undefined, fit: FitPolicy | undefined): MaskScoringSetup {
  return { ...readMaskRcnnSetup(withoutMaskIouHead(recipe), config, fit), architecture: 'maskscoring', recipe };
}

/** In the order in which they run. */
export function listMaskScoringParts(recipe: MaskScoringRecipe): readonly DetectorPart[] {
  return [...listMaskRcnnParts(withoutMaskIouHead(recipe)), describeMaskIouHead(recipe)];
}

export function describeMaskIouHead({ parts, maskIouHead, config }: MaskScoringRecipe): RoiPart {
  const { input, channels, size, maskProbability, maskIou, batch } = maskIouHead;
  return {
    name: 'maskiou_head',
    values: parts.maskiou_head,
    rois: batch,
    inputs: { [input]: [channels, size, size], [maskProbability]: [1, size, size] },
    outputs: { [maskIou]: [config.numClasses] },
  };
}
