/** Settings, part and preprocessing of a single-network detector. All settings are in its host recipe, which `describe` writes. */
import type { Json } from '../../../base/json.js';
import { makeImageFeeds } from '../../data/image-feeds.js';
import type { ImageInputs, OtherInput } from '../../data/image-inputs-schema.js';
import type { DetectorPart } from '../../detector/detector-part.js';
import { type PartValuesByName, toFloats } from '../../detector/part-runner.js';
import type { PartValues } from '../../detector/part-values.js';
import { DetectionError } from '../../error/detection-error.js';
import type { RgbImage } from '../../image/decode-image.js';
import type { ImageForm } from '../../image/image-form.js';
import { batchOf } from '../../image/image-form.js';
import type { Placement } from '../../image/placement.js';
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
  const made = inputsOf(image);
  const dims = new Map([[image.value, dimsOf(made.image.form)], ...made.others.map(other => [other.name, dimsOfOther(other)] as const)]);
  return parts.map(part => {
    const own = part.values.inputs.flatMap(name => {
      const known = dims.get(name);
      return known === undefined ? [] : [[name, known] as const];
    });
    return own.length === 0 ? part : { ...part, inputs: { ...part.inputs, ...Object.fromEntries(own) } };
  });
}

function imagePart(name: string, values: PartValues): DetectorPart {
  return { name, values, rois: 'none', inputs: {} };
}

function innerPart({ name, inputs, outputs, rois }: InnerPart): DetectorPart {
  const values = { inputs, outputs };
  return rois === undefined ? imagePart(name, values) : { name, values, rois: 'free', ...rois };
}

/** @throws DetectionError `input-size`, `image-too-narrow`. */
export function prepareSingle(
  { image }: SingleRecipe,
  pixels: RgbImage,
): { readonly values: PartValuesByName; readonly placement: Placement } {
  const { feeds, placement } = makeImageFeeds(pixels, inputsOf(image), image.preprocess);
  return { values: toFloats('image', feeds), placement };
}

/** Number of images that the network takes at once. */
export function batchOfSingle({ image: { form } }: SingleRecipe): number {
  return form === undefined ? 1 : batchOf(form);
}

/** The inputs that the image gives. Without `form`, it is float32 [1, 3, height, width]. */
function inputsOf({ value, height, width, form, others = [] }: SingleInput): ImageInputs {
  const usual = { dtype: 'float32', layout: 'channels-first', batch: 'one', channels: 3 } as const;
  const own = form ?? { ...usual, height: height === 'free' ? null : height, width: width === 'free' ? null : width };
  return { image: { name: value, form: own }, others, order: [value, ...others.map(({ name }) => name)] };
}

function dimsOfOther(other: OtherInput): readonly number[] {
  return other.kind === 'image' ? dimsOf(other.form) : other.dims;
}

/** Free sides are 1. */
function dimsOf({ layout, batch, channels, height, width }: ImageForm): readonly number[] {
  const sides = [height ?? 1, width ?? 1];
  return [
    ...(batch === 'none' ? [] : [batchOf({ batch })]),
    ...(layout === 'channels-first' ? [channels, ...sides] : [...sides, channels]),
  ];
}
