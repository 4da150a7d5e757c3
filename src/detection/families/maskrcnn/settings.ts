/** Settings of a Mask R-CNN: its host recipe, the config that replaces the recipe's copy, and the fit policy. */
import type { Json } from '../../../base/json.js';
import type { FitPolicy } from '../../detector/detector-family.js';
import { DetectionError } from '../../error/detection-error.js';
import { type DetectorConfig, parseDetectorConfig } from './config.js';
import type { MaskRcnnRecipe } from './recipe.js';

export interface MaskRcnnSettings {
  readonly recipe: MaskRcnnRecipe;
  /** Thresholds, counts, mean and std. Replaces the recipe's copy. */
  readonly config: DetectorConfig;
  readonly fit: FitPolicy;
}

/** @throws DetectionError `bad-config`, `config-mismatch`. */
export function applyMaskRcnnConfig(recipe: MaskRcnnRecipe, config: Json | undefined, fit: FitPolicy | undefined): MaskRcnnSettings {
  const applied = config === undefined ? recipe.config : parseDetectorConfig(config, undefined).config;
  checkConfigFits(recipe, applied);
  return { recipe, config: applied, fit: fit ?? recipe.image.fit };
}

/** Labels are category ids. */
export function listMaskRcnnCategories({ config }: { readonly config: DetectorConfig }): ReadonlyMap<number, string> {
  return new Map(Object.entries(config.categories).map(([label, name]) => [Number(label), name]));
}

/** The values that the networks were built with cannot change later. All other config values can. */
function checkConfigFits(recipe: MaskRcnnRecipe, config: DetectorConfig): void {
  const fixedValues = (from: DetectorConfig): Readonly<Record<string, number | string>> => ({
    numClasses: from.numClasses,
    'box.roiSize': from.box.roiSize,
    'mask.roiSize': from.mask.roiSize,
    'anchors per cell of each level': from.anchors.sizes.map(sizes => sizes.length * from.anchors.aspectRatios.length).join(', '),
  });
  const [found, expected] = [fixedValues(config), fixedValues(recipe.config)];
  const problems = Object.keys(expected)
    .filter(name => found[name] !== expected[name])
    .map(name => `${name} is ${found[name]}, the model was built for ${expected[name]}`);
  if (problems.length > 0)
    throw new DetectionError('config-mismatch', `the detector config does not fit the model: ${problems.join('; ')}`, {
      details: problems,
    });
}
