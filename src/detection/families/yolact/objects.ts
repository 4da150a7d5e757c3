/** Converts the network's outputs to objects: category, score, box in integer pixels, and mask. */

import { getPartValue, type PartValuesByName } from '../../detector/part-runner.js';
import type { Boxes } from '../../geometry/boxes.js';
import type { ImageSize } from '../../image/image-size.js';
import type { Rle } from '../../masks/rle.js';
import { type Candidates, findCandidates } from './candidates.js';
import type { YolactConfig } from './config.js';
import { assembleMasks } from './masks.js';
import { makePriors } from './priors.js';
import type { YolactRecipe } from './recipe.js';
import { type Selection, selectCandidates } from './suppression.js';

/** Values that are the same for every image. */
export interface YolactHost {
  readonly recipe: YolactRecipe;
  /** Thresholds and counts. Replaces the recipe's copy. */
  readonly config: YolactConfig;
  /** Per level. */
  readonly priors: readonly Float32Array[];
}

export function makeHost(recipe: YolactRecipe, config: YolactConfig): YolactHost {
  const priors = recipe.levels.map((size, level) => makePriors(size, level, config.priors, recipe.image.width));
  return { recipe, config, priors };
}

/** Selected objects by falling score, without those whose box has no pixel. */
export interface FoundBoxes {
  readonly candidates: Candidates;
  readonly selection: Selection;
  /** x1 y1 x2 y2 in integer pixels of the image. */
  readonly boxes: Boxes;
}

/** @throws DetectionError `part-values`. */
export function findBoxes({ recipe, config, priors }: YolactHost, values: PartValuesByName, image: ImageSize): FoundBoxes {
  const candidates = findCandidates(values, recipe, config, priors);
  const selected = selectCandidates(candidates, config.detection, recipe.image.width);
  const boxes = Float32Array.from(
    [...selected.candidates].flatMap(index => toPixels(candidates.boxes.subarray(4 * index, 4 * index + 4), image)),
  );
  const kept = [...selected.candidates.keys()].filter(
    index =>
      (boxes[4 * index + 2] as number) > (boxes[4 * index] as number) &&
      (boxes[4 * index + 3] as number) > (boxes[4 * index + 1] as number),
  );
  return {
    candidates,
    selection: {
      candidates: Int32Array.from(kept, index => selected.candidates[index] ?? 0),
      classes: Int32Array.from(kept, index => selected.classes[index] ?? 0),
      scores: Float32Array.from(kept, index => selected.scores[index] ?? 0),
    },
    boxes: Float32Array.from(kept.flatMap(index => [...boxes.subarray(4 * index, 4 * index + 4)])),
  };
}

/** The masks of the found objects, in the image. @throws DetectionError `part-values`. */
export function findMasks(
  { recipe, config }: YolactHost,
  values: PartValuesByName,
  { candidates, selection }: FoundBoxes,
  image: ImageSize,
): Rle[] {
  const { value, channels, height, width } = recipe.prototypes;
  const data = getPartValue(values, value, [1, channels, height, width]);
  return assembleMasks(
    { data, channels, height, width },
    {
      coefficients: gatherRows(candidates.coefficients, selection.candidates, channels),
      boxes: gatherRows(candidates.boxes, selection.candidates, 4),
      image,
      threshold: config.mask.threshold,
    },
  );
}

/** Category ids of classes 1, 2, …. */
export function categoriesOf(classes: Int32Array, { categories }: YolactConfig): Int32Array {
  return classes.map(label => categories[label - 1]?.id ?? 0);
}

/**
 * Converts a relative box to integer pixels of the image: sorts the sides, clips to the image, and truncates.
 * @see dbolya/yolact box_utils.sanitize_coordinates, then `long()`.
 */
function toPixels(box: Float32Array, { width, height }: ImageSize): number[] {
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = box;
  const [left, right] = sanitize(x1, x2, width);
  const [top, bottom] = sanitize(y1, y2, height);
  return [left, top, right, bottom];
}

function sanitize(a: number, b: number, size: number): readonly [number, number] {
  const [first, second] = [Math.fround(a * size), Math.fround(b * size)];
  return [Math.trunc(Math.max(Math.min(first, second), 0)), Math.trunc(Math.min(Math.max(first, second), size))];
}

function gatherRows(values: Float32Array, indices: Int32Array, size: number): Float32Array {
  const rows = new Float32Array(indices.length * size);
  for (const [row, index] of indices.entries()) rows.set(values.subarray(index * size, (index + 1) * size), row * size);
  return rows;
}
