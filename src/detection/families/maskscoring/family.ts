/** The detector family of Mask Scoring R-CNN: Mask R-CNN with a MaskIoU head as a fourth part. */
import { defineFamily } from '../../detector/detector-family.js';
import { prepareImage } from '../maskrcnn/prepare-image.js';
import { listMaskRcnnCategories } from '../maskrcnn/settings.js';
import { openMaskScoring } from './open-maskscoring.js';
import { type MaskScoringRecipe, maskScoringRecipeReader } from './recipe.js';
import { applyMaskScoringConfig, listMaskScoringParts, type MaskScoringSettings } from './settings.js';

export const maskScoring = defineFamily<MaskScoringRecipe, MaskScoringSettings>({
  name: 'maskscoring',
  recipeReader: maskScoringRecipeReader,
  listParts: listMaskScoringParts,
  applyConfig: applyMaskScoringConfig,
  listCategories: listMaskRcnnCategories,
  prepareInput: (settings, image) => ({ [settings.recipe.image.value]: prepareImage(settings, image).tensor }),
  openHost: openMaskScoring,
});
