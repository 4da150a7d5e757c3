/** How is Mask Scoring R-CNN set, and what do its networks take and give? As Mask R-CNN, with a fourth network. */
import type { Json } from '../../base/json.js';
import type { DetectorPart, RoiPart } from '../detector-part.js';
import { listMaskRcnnParts } from './list-parts.js';
import { type MaskScoringRecipe, withoutMaskIouHead } from './mask-scoring-recipe.js';
import type { FitPolicy } from './recipe.js';
import { type MaskRcnnSetup, readMaskRcnnSetup } from './setup.js';

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
