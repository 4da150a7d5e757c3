/** The detector family of dbolya/yolact. */
import { defineFamily } from '../../detector/detector-family.js';
import { openYolact } from './open-yolact.js';
import { prepareImage } from './prepare-image.js';
import { type YolactRecipe, yolactRecipeReader } from './recipe.js';
import { applyYolactConfig, listYolactParts, type YolactSettings } from './settings.js';

export const yolact = defineFamily<YolactRecipe, YolactSettings>({
  name: 'yolact',
  recipeReader: yolactRecipeReader,
  listParts: listYolactParts,
  applyConfig: applyYolactConfig,
  listCategories: ({ config }) => new Map(config.categories.map(({ id, name }) => [id, name])),
  prepareInput: ({ recipe, config }, image) => ({ [recipe.image.value]: prepareImage(image, recipe.image, config) }),
  openHost: openYolact,
});
