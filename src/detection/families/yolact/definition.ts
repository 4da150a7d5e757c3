/** How is a YOLACT set? Its recipe, and the config that counts instead of the recipe's copy. */
import type { Json } from '../../../base/json.js';
import type { DetectorPart } from '../../detector/detector-part.js';
import { DetectionError } from '../../error/detection-error.js';
import { countClasses, countPriors, parseYolactConfig, type YolactConfig } from './config.js';
import type { YolactRecipe } from './recipe.js';

export interface YolactSetup {
  readonly architecture: 'yolact';
  readonly recipe: YolactRecipe;
  /** Thresholds, counts, mean and std are these, not the recipe's copy. */
  readonly config: YolactConfig;
  /** There is one way: every image is stretched to the input. */
  readonly fit?: undefined;
}

/** @throws DetectionError `bad-config`, `config-mismatch`, also where a fit policy is asked for. */
export function readYolactSetup(recipe: YolactRecipe, config: Json | undefined, fit: string | undefined): YolactSetup {
  if (fit !== undefined)
    throw new DetectionError('config-mismatch', `YOLACT stretches every image to its input: it has no fit policy "${fit}"`, {
      help: 'leave out `fit`',
    });
  const wanted = config === undefined ? recipe.config : parseYolactConfig(config, undefined).config;
  checkConfigFits(recipe.config, wanted);
  return { architecture: 'yolact', recipe, config: wanted };
}

/** What the network was built with cannot be changed after: the config's other values can. */
function checkConfigFits(built: YolactConfig, config: YolactConfig): void {
  const facts = (from: YolactConfig): Readonly<Record<string, number | string>> => ({
    'classes, with the background': countClasses(from),
    'priors per cell of each level': from.priors.scales.map((_, level) => countPriors(from.priors, level)).join(', '),
  });
  const [there, wanted] = [facts(config), facts(built)];
  const problems = Object.keys(wanted)
    .filter(name => there[name] !== wanted[name])
    .map(name => `${name}: ${there[name]}, the model was built for ${wanted[name]}`);
  if (problems.length > 0)
    throw new DetectionError('config-mismatch', `the detector config does not fit the model: ${problems.join('; ')}`, {
      details: problems,
    });
}

/** One network, fed the image. */
export function listYolactParts({ image, parts }: YolactRecipe): readonly [DetectorPart] {
  return [{ name: 'network', values: parts.network, rois: 'none', inputs: { [image.value]: [1, 3, image.height, image.width] } }];
}
