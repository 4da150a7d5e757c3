/** The type of a detector family: how its host recipe is read, and how its host runs the parts. */

import { type JsonReader, type JsonResult, readJsonShape } from '../../base/json/json-shape.js';
import type { Json, JsonObject } from '../../base/json.js';
import type { RgbImage } from '../image/decode-image.js';
import type { TilesByPart } from '../tiles/part-tiles.js';
import type { DetectorHost, HostServices } from './detector.js';
import type { DetectorPart } from './detector-part.js';
import type { HostRecipe } from './host-recipe.js';
import type { PartValuesByName } from './part-runner.js';

/** 'static': scaled to fit the input, then padded to it. 'torchvision': by minSize and maxSize, then padded to the input, which must be large enough. */
export type FitPolicy = 'static' | 'torchvision';

/** A detector without its models: the host recipe, the config that applies, and the fit policy. */
export interface DetectorDefinition {
  /** The same as JSON, for manifests; `readDefinition` reads it. */
  readonly files: DefinitionFiles & JsonObject;
  /** In the order in which they run. */
  readonly parts: readonly DetectorPart[];
  /** The parts that run on tiles of canvases. */
  readonly tiles: TilesByPart;
  /** Names of the categories that objects are labeled with, by id, as the config has them. */
  readonly categories: ReadonlyMap<number, string>;
  /** The input of the first part for an image; no model is needed. @throws DetectionError `input-size`, `image-too-narrow` where the image cannot be fitted. */
  prepareInput(image: RgbImage): PartValuesByName;
  /** Each kind of number (boxes, objectness, classes) in outputs that hold several, by `OUTPUT/kind`. Outputs that hold one kind are not repeated. */
  splitKinds(outputs: PartValuesByName): PartValuesByName;
  /** @throws DetectionError `decoder-module`. */
  openHost(services: HostServices): Promise<DetectorHost>;
}

/** What a family defines; no family knows of tiles. */
export type UntiledDefinition = Omit<DetectorDefinition, 'tiles'>;

export interface DefinitionFiles {
  /** Host recipe written by `export`, `split` or `describe`. */
  readonly recipe: Json;
  /** Thresholds and counts. Default: the recipe's copy. */
  readonly config?: Json | undefined;
  /** Default: the recipe's. */
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
  define(config: Json | undefined, fit: FitPolicy | undefined): UntiledDefinition;
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
  /** See DetectorDefinition. Absent where every output holds one kind of number. @throws DetectionError `decoder-shape`. */
  splitKinds?(settings: Settings, outputs: PartValuesByName): PartValuesByName;
  openHost(settings: Settings, services: HostServices): DetectorHost | Promise<DetectorHost>;
}

export interface FamilySettings<Recipe extends HostRecipe> {
  readonly recipe: Recipe;
  /** Replaces the recipe's copy; absent where the family has no config. */
  readonly config?: JsonObject | undefined;
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
): UntiledDefinition {
  return {
    files: encodeSettings(settings),
    parts: family.listParts(settings.recipe),
    categories: family.listCategories(settings),
    prepareInput: image => family.prepareInput(settings, image),
    splitKinds: outputs => family.splitKinds?.(settings, outputs) ?? {},
    openHost: async services => family.openHost(settings, services),
  };
}

function encodeSettings({ recipe, config, fit }: FamilySettings<HostRecipe>): DefinitionFiles & JsonObject {
  if (config === undefined) return { recipe };
  return { recipe, config, ...(fit === undefined ? {} : { fit }) };
}
