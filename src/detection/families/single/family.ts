/** The detector family of single networks whose outputs a decoder reads (YOLO, SSD, FCOS and others). */
import { defineFamily } from '../../detector/detector-family.js';
import { splitDecoded } from './decoder/split-kinds.js';
import { openSingle } from './open-single.js';
import { type SingleRecipe, singleRecipeReader } from './recipe.js';
import { batchOfSingle, listSingleParts, prepareSingle, readSingleSettings, type SingleSettings } from './settings.js';

export const single = defineFamily<SingleRecipe, SingleSettings>({
  name: 'single',
  recipeReader: singleRecipeReader,
  listParts: listSingleParts,
  applyConfig: readSingleSettings,
  listCategories: ({ recipe }) => new Map(recipe.categories.map(({ id, name }) => [id, name])),
  prepareInput: ({ recipe }, image) => prepareSingle(recipe, image).values,
  splitKinds: ({ recipe }, outputs) =>
    splitDecoded(recipe.decoder, outputs, { classes: recipe.categories.length, batch: batchOfSingle(recipe) }),
  openHost: openSingle,
});
