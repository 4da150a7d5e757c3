/** Settings, part and preprocessing of a single-network detector. All settings are in its host recipe, which `describe` writes. */
import type { Json } from '../../../base/json.js';
import type { DetectorPart } from '../../detector/detector-part.js';
import type { PartValues } from '../../detector/part-values.js';
import { DetectionError } from '../../error/detection-error.js';
import type { RgbImage } from '../../image/decode-image.js';
import { type PreprocessedImage, preprocessImage } from '../../image/preprocessing.js';
import type { InnerPart, SingleInput, SingleRecipe } from './recipe.js';

export interface SingleSettings {
  readonly recipe: SingleRecipe;
}

/** @throws DetectionError `config-mismatch` where a config or a fit policy is given: the recipe has no place for them. */
export function readSingleSettings(recipe: SingleRecipe, config: Json | undefined, fit: string | undefined): SingleSettings {
  if (config !== undefined || fit !== undefined)
    throw new DetectionError(
      'config-mismatch',
      `the host recipe is of architecture single, which takes no ${config === undefined ? 'fit policy' : 'detector config'}`,
      { help: 'set thresholds, categories and preprocessing in the stage `describe` that wrote the recipe' },
    );
  return { recipe };
}

/** In the order in which they run. The dims of values between parts are those of the models. */
export function listSingleParts({ image, parts: { prepare, model, rest }, heads = [] }: SingleRecipe): readonly DetectorPart[] {
  const parts = [
    ...(prepare === undefined ? [] : [imagePart('prepare', prepare)]),
    imagePart('model', model),
    ...heads.map(innerPart),
    ...(rest === undefined ? [] : [imagePart('rest', rest)]),
  ];
  const dims = [1, 3, sizeOr(image.height, 1), sizeOr(image.width, 1)];
  return parts.map((part, index) => (index === 0 ? { ...part, inputs: { [image.value]: dims } } : part));
}

function imagePart(name: string, values: PartValues): DetectorPart {
  return { name, values, rois: 'none', inputs: {} };
}

function innerPart({ name, inputs, outputs, rois }: InnerPart): DetectorPart {
  const values = { inputs, outputs };
  return rois === undefined ? imagePart(name, values) : { name, values, rois: 'free', ...rois };
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
