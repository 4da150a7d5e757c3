/** What went into a calibration, and what did it see? Plain JSON for people. */
import type { JsonObject } from '../../src/base/json.js';
import type { ListedImage } from '../../src/detection/image-list.js';
import type { MaskRcnnPart } from '../../src/detection/recipe.js';
import { fromDyadic } from '../../src/quant/exact-sum.js';
import type { ModelSketches } from '../../src/quant/model-sketches.js';
import type { Sketch } from '../../src/quant/sketch.js';

export interface UsedSample {
  readonly image: ListedImage;
  /** Length of the first axis: 1 for an image, the number of RoIs for a head. */
  readonly rows: number;
}

export interface LeftOut {
  readonly image: ListedImage;
  readonly reason: string;
}

export function reportCalibration(
  part: MaskRcnnPart,
  sketches: ModelSketches,
  { used, leftOut }: { readonly used: readonly UsedSample[]; readonly leftOut: readonly LeftOut[] },
): JsonObject {
  return {
    part,
    samples: used.map(({ image, rows }) => ({ image: image.id, file: image.fileName, rows })),
    leftOut: leftOut.map(({ image, reason }) => ({ image: image.id, file: image.fileName, reason })),
    values: [...sketches.values.values()].map(({ name, sketch }) => ({ name, ...describe(sketch) })),
  };
}

function describe(sketch: Sketch): JsonObject {
  const { count, zeros, min = null, max = null } = sketch;
  if (count === 0) return { count };
  const mean = fromDyadic(sketch.sum) / count;
  const meanSquare = fromDyadic(sketch.sumOfSquares) / count;
  return { count, min, max, mean, standardDeviation: Math.sqrt(Math.max(0, meanSquare - mean * mean)), zeroShare: zeros / count };
}
