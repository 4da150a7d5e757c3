/** The detector family of torchvision's Mask R-CNN. */
import { defineFamily } from '../../detector/detector-family.js';
import { listMaskRcnnParts } from './list-parts.js';
import { openMaskRcnn } from './open-maskrcnn.js';
import { prepareImage } from './prepare-image.js';
import { type MaskRcnnRecipe, maskRcnnRecipeReader } from './recipe.js';
import { applyMaskRcnnConfig, listMaskRcnnCategories, type MaskRcnnSettings } from './settings.js';

export const maskRcnn = defineFamily<MaskRcnnRecipe, MaskRcnnSettings>({
  name: 'maskrcnn',
  recipeReader: maskRcnnRecipeReader,
  listParts: listMaskRcnnParts,
  applyConfig: applyMaskRcnnConfig,
  listCategories: listMaskRcnnCategories,
  prepareInput: (settings, image) => ({ [settings.recipe.image.value]: prepareImage(settings, image).tensor }),
  openHost: openMaskRcnn,
});
