/** How does the host join the parts of a detector? The recipe that stands beside its models, one member per family, and its one parser. */
import { isJsonObject, type Json, type JsonObject } from '../base/json.js';
import { formatJsonProblems, type JsonReader, readJsonShape } from '../base/json-shape.js';
import { DetectionError } from './error/detection-error.js';
import { type MaskRcnnRecipe, maskRcnnRecipeReader } from './families/maskrcnn/recipe.js';
import { type MaskScoringRecipe, maskScoringRecipeReader } from './families/maskscoring/recipe.js';
import { type SingleRecipe, singleRecipeReader } from './families/single/recipe.js';
import { type YolactRecipe, yolactRecipeReader } from './families/yolact/recipe.js';

/** A new family of detectors adds a member with its own `architecture`, and its reader below. */
export type Recipe = MaskRcnnRecipe | MaskScoringRecipe | SingleRecipe | YolactRecipe;

const READERS: { readonly [A in Recipe['architecture']]: JsonReader<Extract<Recipe, { readonly architecture: A }>> } = {
  maskrcnn: maskRcnnRecipeReader,
  maskscoring: maskScoringRecipeReader,
  single: singleRecipeReader,
  yolact: yolactRecipeReader,
};

const ARCHITECTURES = Object.keys(READERS) as Recipe['architecture'][];

/** Parses a recipe's JSON. @throws DetectionError `bad-recipe` with every missing, unknown and wrong field. */
export function parseRecipe(value: Json): Recipe {
  const read = readJsonShape<Recipe>(readerOf(value), value);
  if (read.kind === 'ok') return read.value;
  const lines = formatJsonProblems(read.problems);
  throw new DetectionError('bad-recipe', `detector recipe: ${lines.join('; ')}`, {
    details: lines,
    help: 'a recipe is written by `export`, `split` or `describe`; run it again with this version',
  });
}

/** The family's; the first one's where there is no such family, as it says so among all that is wrong. */
function readerOf(value: Json): JsonReader<Recipe> {
  const named = isJsonObject(value) ? ARCHITECTURES.find(one => one === value.architecture) : undefined;
  return READERS[named ?? 'maskrcnn'];
}

/** The recipe as JSON, for writing. */
export function encodeRecipe(recipe: Recipe): JsonObject {
  return recipe as unknown as JsonObject;
}
