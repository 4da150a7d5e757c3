/** How is a Mask R-CNN set? Its recipe, the config that counts instead of the recipe's copy, and the fit policy. */
import type { Json } from '../../../base/json.js';
import { DetectionError } from '../../error/detection-error.js';
import { type DetectorConfig, parseDetectorConfig } from './config.js';
import type { FitPolicy, MaskRcnnRecipe } from './recipe.js';

export interface MaskRcnnSetup {
  readonly architecture: 'maskrcnn';
  readonly recipe: MaskRcnnRecipe;
  /** Thresholds, counts, mean and std are these, not the recipe's copy. */
  readonly config: DetectorConfig;
  readonly fit: FitPolicy;
}

/** @throws DetectionError `bad-config`, `config-mismatch`. */
export function readMaskRcnnSetup(recipe: MaskRcnnRecipe, config: Json | undefined, fit: FitPolicy | undefined): MaskRcnnSetup {
  const wanted = config === undefined ? recipe.config : parseDetectorConfig(config, undefined).config;
  checkConfigFits(recipe, wanted);
  return { architecture: 'maskrcnn', recipe, config: wanted, fit: fit ?? recipe.image.fit };
}

/** What the networks were built with cannot be changed after: the config's other values can. */
function checkConfigFits(recipe: MaskRcnnRecipe, config: DetectorConfig): void {
  const built = recipe.config;
  const facts = (from: DetectorConfig): Readonly<Record<string, number | string>> => ({
    numClasses: from.numClasses,
    'box.roiSize': from.box.roiSize,
    'mask.roiSize': from.mask.roiSize,
    'anchors per cell of each level': from.anchors.sizes.map(sizes => sizes.length * from.anchors.aspectRatios.length).join(', '),
  });
  const [there, wanted] = [facts(config), facts(built)];
  const problems = Object.keys(wanted)
    .filter(name => there[name] !== wanted[name])
    .map(name => `${name} is ${there[name]}, the model was built for ${wanted[name]}`);
  if (problems.length > 0)
    throw new DetectionError('config-mismatch', `the detector config does not fit the model: ${problems.join('; ')}`, {
      details: problems,
    });
}
