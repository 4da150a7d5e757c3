/** The type of a detector family: how its host recipe is read, and how its host runs the parts. */
import type { Json, JsonObject } from '../../base/json.js';
import { type JsonReader, type JsonResult, readJsonShape } from '../../base/json-shape.js';
import type { RgbImage } from '../image/decode-image.js';
import type { DetectorHost, HostServices } from './detector.js';
import type { DetectorPart } from './detector-part.js';
import { encodeRecipe, type HostRecipe } from './host-recipe.js';
import type { PartValuesByName } from './part-runner.js';

/** 'static': scaled to fit the input, then padded to it. 'torchvision': by minSize and maxSize, then padded to the input, which must be large enough. */
export type FitPolicy = 'static' | 'torchvision';

/** A detector without its models: the host recipe, the config that applies, and the fit policy. */
export interface DetectorDefinition {
  /** The same as JSON, for manifests; `readDefinition` reads it. */
  readonly files: DefinitionFiles & JsonObject;
  /** In the order in which they run. */
  readonly parts: readonly DetectorPart[];
  /** Names of the categories that objects are labelled with, by id, as the config has them. */
  readonly categories: ReadonlyMap<number, string>;
  /** The input of the first part for an image; no model is needed. @throws DetectionError `input-size`, `image-too-narrow` where the image cannot be fitted. */
  prepareInput(image: RgbImage): PartValuesByName;
  /** @throws DetectionError `decoder-module`. */
  openHost(services: HostServices): Promise<DetectorHost>;
}

export interface DefinitionFiles {
  /** Host recipe written by `export`, `split` or `describe`. */
  readonly recipe: Json;
  /** Thresholds and counts; the recipe's copy where absent. */
  readonly config?: Json | undefined;
  /** The recipe's where absent. */
  readonly fit?: FitPolicy | undefined;
}

export interface DetectorFamily {
  /** `architecture` of its host recipes. */
  readonly name: string;
  readRecipe(value: Json): JsonResult<ReadRecipe>;
}

export interface ReadRecipe {
  readonly recipe: HostRecipe;
  /** Applies a config and a fit policy. @throws DetectionError `bad-config`, `config-mismatch`. */
  define(config: Json | undefined, fit: FitPolicy | undefined): DetectorDefinition;
}

/** The functions of a family, with its own types. */
export interface FamilyFunctions<Recipe extends HostRecipe, Settings extends FamilySettings<Recipe>> {
  readonly name: Recipe['architecture'];
  readonly recipeReader: JsonReader<Recipe>;
  /** In the order in which they run. */
  listParts(recipe: Recipe): readonly DetectorPart[];
  /** @throws DetectionError `bad-config`, `config-mismatch`. */
  applyConfig(recipe: Recipe, config: Json | undefined, fit: FitPolicy | undefined): Settings;
  listCategories(settings: Settings): ReadonlyMap<number, string>;
  prepareInput(settings: Settings, image: RgbImage): PartValuesByName;
  openHost(settings: Settings, services: HostServices): DetectorHost | Promise<DetectorHost>;
}

export interface FamilySettings<Recipe extends HostRecipe> {
  readonly recipe: Recipe;
  /** Replaces the recipe's copy; absent where the family has no config. */
  readonly config?: object | undefined;
  /** Absent where the family fits images in one way only. */
  readonly fit?: FitPolicy | undefined;
}

/** Hides the types of a family, so that a registry can list families of any types. */
export function defineFamily<Recipe extends HostRecipe, Settings extends FamilySettings<Recipe>>(
  family: FamilyFunctions<Recipe, Settings>,
): DetectorFamily {
  return {
    name: family.name,
    readRecipe(value) {
      const read = readJsonShape(family.recipeReader, value);
      if (read.kind === 'problems') return read;
      const recipe = read.value;
      return { kind: 'ok', value: { recipe, define: (config, fit) => makeDefinition(family, family.applyConfig(recipe, config, fit)) } };
    },
  };
}

function makeDefinition<Recipe extends HostRecipe, Settings extends FamilySettings<Recipe>>(
  family: FamilyFunctions<Recipe, Settings>,
  settings: Settings,
): DetectorDefinition {
  return {
    files: encodeSettings(settings),
    parts: family.listParts(settings.recipe),
    categories: family.listCategories(settings),
    prepareInput: image => family.prepareInput(settings, image),
    openHost: async services => family.openHost(settings, services),
  };
}

function encodeSettings({ recipe, config, fit }: FamilySettings<HostRecipe>): DefinitionFiles & JsonObject {
  if (config === undefined) return { recipe: encodeRecipe(recipe) };
  return { recipe: encodeRecipe(recipe), config: config as unknown as JsonObject, ...(fit === undefined ? {} : { fit }) };
}
