/** Settings and part of a YOLACT: its host recipe, and the config that replaces the recipe's copy. */
import type { Json } from '../../../base/json.js';
import type { DetectorPart } from '../../detector/detector-part.js';
import { DetectionError } from '../../error/detection-error.js';
import { countClasses, countPriors, parseYolactConfig, type YolactConfig } from './config.js';
import type { YolactRecipe } from './recipe.js';

export interface YolactSettings {
  readonly recipe: YolactRecipe;
  /** Thresholds, counts, mean and std. Replaces the recipe's copy. */
  readonly config: YolactConfig;
}

/** @throws DetectionError `bad-config`, `config-mismatch`; `config-mismatch` also where a fit policy is given. */
export function applyYolactConfig(recipe: YolactRecipe, config: Json | undefined, fit: string | undefined): YolactSettings {
  if (fit !== undefined)
    throw new DetectionError('config-mismatch', `YOLACT stretches every image to its input and has no fit policy "${fit}"`, {
      help: 'remove `fit`',
    });
  const applied = config === undefined ? recipe.config : parseYolactConfig(config, undefined).config;
  checkConfigFits(recipe.config, applied);
  return { recipe, config: applied };
}

/** The values that the network was built with cannot change later. All other config values can. */
function checkConfigFits(built: YolactConfig, config: YolactConfig): void {
  const fixedValues = (from: YolactConfig): Readonly<Record<string, number | string>> => ({
    'classes, background included': countClasses(from),
    'priors per cell of each level': from.priors.scales.map((_, level) => countPriors(from.priors, level)).join(', '),
  });
  const [found, expected] = [fixedValues(config), fixedValues(built)];
  const problems = Object.keys(expected)
    .filter(name => found[name] !== expected[name])
    .map(name => `${name}: ${found[name]}, the model was built for ${expected[name]}`);
  if (problems.length > 0)
    throw new DetectionError('config-mismatch', `the detector config does not fit the model: ${problems.join('; ')}`, {
      details: problems,
    });
}

/** The one part of the detector; its input is the image. */
export function listYolactParts({ image, parts }: YolactRecipe): readonly [DetectorPart] {
  return [{ name: 'network', values: parts.network, rois: 'none', inputs: { [image.value]: [1, 3, image.height, image.width] } }];
}
