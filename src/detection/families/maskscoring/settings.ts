/** Settings and parts of Mask Scoring R-CNN: those of Mask R-CNN, and the MaskIoU head. */
import type { Json } from '../../../base/json.js';
import type { FitPolicy } from '../../detector/detector-family.js';
import type { DetectorPart, RoiPart } from '../../detector/detector-part.js';
import { listMaskRcnnParts } from '../maskrcnn/list-parts.js';
import { applyMaskRcnnConfig, type MaskRcnnSettings } from '../maskrcnn/settings.js';
import { type MaskScoringRecipe, withoutMaskIouHead } from './recipe.js';

export interface MaskScoringSettings extends Omit<MaskRcnnSettings, 'recipe'> {
  readonly recipe: MaskScoringRecipe;
}

/** @throws DetectionError `bad-config`, `config-mismatch`. */
export function applyMaskScoringConfig(
  recipe: MaskScoringRecipe,
  config: Json | undefined,
  fit: FitPolicy | undefined,
): MaskScoringSettings {
  return { ...applyMaskRcnnConfig(withoutMaskIouHead(recipe), config, fit), recipe };
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
