/** Extracts the parts of an exported Mask R-CNN, with the names and shapes that `export` gives them. */

import { getDefined } from '../../../../base/invariant.js';
import type { Dim, Model, ValueId } from '../../../../onnx/ir/model.js';
import type { FitPolicy } from '../../../detector/detector-family.js';
import { DetectionError } from '../../../error/detection-error.js';
import type { DetectorConfig } from '../config.js';
import { levelNames, makeRecipe } from '../make-recipe.js';
import type { MaskRcnnPart } from '../part-names.js';
import type { MaskRcnnRecipe } from '../recipe.js';
import { extractNamed, type NamedValue } from './extract-named.js';
import type { LocatedHead } from './locate-heads.js';
import { type LocatedParts, locateParts } from './locate-parts.js';

export interface ExtractedParts {
  readonly parts: Readonly<Record<MaskRcnnPart, Model>>;
  readonly recipe: MaskRcnnRecipe;
  readonly places: ValuePlaces;
}

/** The value of the whole model for each value name of the recipe. */
export type ValuePlaces = ReadonlyMap<string, ValueId>;

/**
 * Extracts `backbone`, `box_head` and `mask_head` from the whole detector `model`, which is not changed. The heads take any number of RoIs.
 * @throws DetectionError `maskrcnn-structure`; `config-mismatch` with every config value that contradicts the model; OnnxError `cut-open`.
 */
export function extractParts(model: Model, config: DetectorConfig, fit: FitPolicy): ExtractedParts {
  const located = locateParts(model);
  checkConfig(config, located);
  const { image, levels, channels } = located;
  const built = levels.map(({ height, width, feature }, level) => ({
    height,
    width,
    ...levelNames(level, feature === 'none' ? 'none' : 'feature'),
  }));
  const recipe = makeRecipe(built, channels, config, {
    height: image.height,
    width: image.width,
    fit,
    roiBatch: { box: 'free', mask: 'free' },
  });
  const places = placesOf(located, recipe);
  const roiShape = (name: string, { size }: LocatedHead): readonly Dim[] => [name, channels, size, size];
  const take = (part: MaskRcnnPart, dims: readonly Dim[]): Model => takePart(model, recipe.parts[part], places, dims);
  return {
    parts: {
      backbone: take('backbone', [1, 3, image.height, image.width]),
      box_head: take('box_head', roiShape('box_rois', located.boxHead)),
      mask_head: take('mask_head', roiShape('mask_rois', located.maskHead)),
    },
    recipe,
    places,
  };
}

function placesOf({ image, levels, boxHead, maskHead }: LocatedParts, recipe: MaskRcnnRecipe): ValuePlaces {
  const places = new Map<string, ValueId>([
    [recipe.image.value, image.value],
    [recipe.boxHead.input, boxHead.input],
    [recipe.boxHead.classLogits, boxHead.classLogits],
    [recipe.boxHead.boxRegression, boxHead.boxRegression],
    [recipe.maskHead.input, maskHead.input],
    [recipe.maskHead.maskLogits, maskHead.maskLogits],
  ]);
  for (const [index, level] of recipe.levels.entries()) {
    const found = levels[index];
    if (found === undefined) continue;
    if (found.feature !== 'none') places.set(level.feature, found.feature);
    places.set(level.objectness, found.objectness).set(level.deltas, found.deltas);
  }
  return places;
}

function takePart(
  whole: Model,
  { inputs, outputs }: MaskRcnnRecipe['parts'][MaskRcnnPart],
  places: ValuePlaces,
  dims: readonly Dim[],
): Model {
  const endAt = (name: string): NamedValue => ({ name, id: getDefined(places.get(name), `the place of "${name}"`) });
  const type = { kind: 'tensor', dtype: 'float32', dims } as const;
  return extractNamed(
    whole,
    inputs.map(name => ({ ...endAt(name), type })),
    outputs.map(endAt),
  );
}

/** Compares the config with the values that the model's nodes determine. */
function checkConfig(config: DetectorConfig, { classes, anchorsPerCell, levels, boxHead, maskHead }: LocatedParts): void {
  const { sizes, aspectRatios } = config.anchors;
  const facts: readonly (readonly [string, unknown, unknown])[] = [
    ['numClasses', config.numClasses, classes],
    ['the number of anchors.sizes', sizes.length, levels.length],
    ...sizes.map((of, level) => [`anchors.sizes[${level}] × aspectRatios`, of.length * aspectRatios.length, anchorsPerCell] as const),
    ['box.roiSize', config.box.roiSize, boxHead.size],
    ['box.samplingRatio', config.box.samplingRatio, boxHead.samplingRatio],
    ['mask.roiSize', config.mask.roiSize, maskHead.size],
    ['mask.samplingRatio', config.mask.samplingRatio, maskHead.samplingRatio],
  ];
  const problems = facts
    .filter(([, wanted, found]) => wanted !== found)
    .map(([what, wanted, found]) => `${what} is ${wanted}, the model has ${found}`);
  if (problems.length === 0) return;
  throw new DetectionError('config-mismatch', `the detector config does not fit the model: ${problems.join('; ')}`, {
    details: problems,
    help: 'the config describes how the network was trained and exported; use the one that belongs to the model',
  });
}
