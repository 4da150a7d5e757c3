/** The report of `calibrate`: used and skipped samples, and the ranges of values. */
import type { JsonObject } from '../../src/base/json.js';
import type { ModelSketches } from '../../src/quant/calibration/model-sketches.js';
import { fromDyadic } from '../../src/quant/sketch/exact-sum.js';
import type { Sketch } from '../../src/quant/sketch/sketch.js';
import type { CalibrationSample } from './calibration-sample.js';

export interface UsedSample {
  readonly sample: CalibrationSample;
  /** Length of the first axis: 1 for an image, the number of RoIs for a head. */
  readonly rows: number;
}

export interface LeftOut {
  readonly sample: CalibrationSample;
  readonly reason: string;
}

export function reportCalibration(
  part: string,
  sketches: ModelSketches,
  { used, leftOut }: { readonly used: readonly UsedSample[]; readonly leftOut: readonly LeftOut[] },
): JsonObject {
  return {
    part,
    samples: used.map(({ sample, rows }) => ({ sample: sample.id, file: sample.source, rows })),
    leftOut: leftOut.map(({ sample, reason }) => ({ sample: sample.id, file: sample.source, reason })),
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
