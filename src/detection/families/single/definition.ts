/** How is a detector of one network set? By its recipe alone: thresholds are `describe`'s, and are changed there. */
import type { Json } from '../../../base/json.js';
import type { DetectorPart } from '../../detector/detector-part.js';
import { DetectionError } from '../../error/detection-error.js';
import type { RgbImage } from '../../image/decode-image.js';
import { type PreprocessedImage, preprocessImage } from '../../image/preprocessing.js';
import type { SingleInput, SingleRecipe } from './recipe.js';

export interface SingleSetup {
  readonly architecture: 'single';
  readonly recipe: SingleRecipe;
  readonly config?: undefined;
  readonly fit?: undefined;
}

/** @throws DetectionError `config-mismatch` where a config or fit policy is given, which the recipe has no place for. */
export function readSingleSetup(recipe: SingleRecipe, config: Json | undefined, fit: string | undefined): SingleSetup {
  if (config !== undefined || fit !== undefined)
    throw new DetectionError(
      'config-mismatch',
      `the recipe is one of a plain network, which takes no ${config === undefined ? 'fit policy' : 'config'}`,
      {
        help: 'thresholds, categories and preprocessing stand in the stage `describe` that wrote the recipe: change them there',
      },
    );
  return { architecture: 'single', recipe };
}

/** Its one part. */
export function listSingleParts({ image, parts }: SingleRecipe): readonly [DetectorPart] {
  const dims = [1, 3, sizeOr(image.height, 1), sizeOr(image.width, 1)];
  return [{ name: 'model', values: parts.model, rois: 'none', inputs: { [image.value]: dims } }];
}

/** @throws DetectionError `input-size`, `image-too-narrow`. */
export function prepareSingle({ image }: SingleRecipe, pixels: RgbImage): PreprocessedImage {
  return preprocessImage(pixels, inputSizeOf(image), image.preprocess);
}

function inputSizeOf({ height, width }: SingleInput) {
  return { height: sizeOr(height, undefined), width: sizeOr(width, undefined) };
}

function sizeOr<T>(size: number | 'free', free: T): number | T {
  return size === 'free' ? free : size;
}
