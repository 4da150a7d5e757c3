/** Which detector, and how is it set? A recipe, the config that counts, and how images are fitted: all that does not depend on whose models run. */
import type { Json, JsonObject } from '../base/json.js';
import type { DetectorPart } from './detector/detector-part.js';
import type { PartValuesByName } from './detector/part-runner.js';
import { type MaskRcnnSetup, readMaskRcnnSetup } from './families/maskrcnn/definition.js';
import { listMaskRcnnParts } from './families/maskrcnn/list-parts.js';
import { prepareImage } from './families/maskrcnn/prepare-image.js';
import type { FitPolicy } from './families/maskrcnn/recipe.js';
import { listMaskScoringParts, type MaskScoringSetup, readMaskScoringSetup } from './families/maskscoring/definition.js';
import { listSingleParts, prepareSingle, readSingleSetup, type SingleSetup } from './families/single/definition.js';
import { listYolactParts, readYolactSetup, type YolactSetup } from './families/yolact/definition.js';
import { prepareImage as prepareYolactImage } from './families/yolact/prepare-image.js';
import type { RgbImage } from './image/decode-image.js';
import { encodeRecipe, parseRecipe, type Recipe } from './parse-recipe.js';

/** One member per family, told apart by `architecture`. */
export type DetectorSetup = MaskRcnnSetup | MaskScoringSetup | SingleSetup | YolactSetup;

export interface SetupFiles {
  /** What `export`, `split` or `describe` wrote. */
  readonly recipe: Json;
  /** Thresholds and counts; the recipe's copy where absent. */
  readonly config?: Json | undefined;
  /** The recipe's where absent. */
  readonly fit?: FitPolicy | undefined;
}

/** @throws DetectionError `bad-recipe`, `bad-config`, `config-mismatch`. */
export function readSetup({ recipe, config, fit }: SetupFiles): DetectorSetup {
  const parsed = parseRecipe(recipe);
  switch (parsed.architecture) {
    case 'maskrcnn':
      return readMaskRcnnSetup(parsed, config, fit);
    case 'maskscoring':
      return readMaskScoringSetup(parsed, config, fit);
    case 'single':
      return readSingleSetup(parsed, config, fit);
    case 'yolact':
      return readYolactSetup(parsed, config, fit);
  }
}

/** A setup as JSON, for manifests: `readSetup` reads it. */
export function encodeSetup({ recipe, config, fit }: DetectorSetup): SetupFiles & JsonObject {
  if (config === undefined) return { recipe: encodeRecipe(recipe) };
  return { recipe: encodeRecipe(recipe), config: config as unknown as JsonObject, ...(fit === undefined ? {} : { fit }) };
}

/** Names of the categories that objects are labelled with, by id, as the config has them. */
export function listCategories(setup: DetectorSetup): ReadonlyMap<number, string> {
  switch (setup.architecture) {
    case 'maskrcnn':
    case 'maskscoring':
      return new Map(Object.entries(setup.config.categories).map(([label, name]) => [Number(label), name]));
    case 'single':
      return new Map(setup.recipe.categories.map(({ id, name }) => [id, name]));
    case 'yolact':
      return new Map(setup.config.categories.map(({ id, name }) => [id, name]));
  }
}

/** The parts, in the order in which they run. */
export function listParts(recipe: Recipe): readonly DetectorPart[] {
  switch (recipe.architecture) {
    case 'maskrcnn':
      return listMaskRcnnParts(recipe);
    case 'maskscoring':
      return listMaskScoringParts(recipe);
    case 'single':
      return listSingleParts(recipe);
    case 'yolact':
      return listYolactParts(recipe);
  }
}

/** What the first part is fed for an image; no model is needed. @throws DetectionError `input-size` where the image, fitted, does not go into the model's input. */
export function prepareInput(setup: DetectorSetup, image: RgbImage): PartValuesByName {
  switch (setup.architecture) {
    case 'maskrcnn':
    case 'maskscoring':
      return { [setup.recipe.image.value]: prepareImage(setup, image).tensor };
    case 'single':
      return { [setup.recipe.image.value]: prepareSingle(setup.recipe, image).tensor };
    case 'yolact':
      return { [setup.recipe.image.value]: prepareYolactImage(image, setup.recipe.image, setup.config) };
  }
}
