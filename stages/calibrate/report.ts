/** The report of `calibrate`: used and skipped samples, and the ranges of values. */
import type { JsonObject } from '../../src/base/json.js';
import type { ModelSketches } from '../../src/quant/calibration/model-sketches.js';
import type { JoinEntry } from '../../src/quant/report/report-entries.js';
import { fromDyadic } from '../../src/quant/sketch/exact-sum.js';
import type { Sketch } from '../../src/quant/sketch/sketch.js';
import type { CalibrationSample } from './calibration-sample.js';

export interface UsedSample {
  readonly sample: CalibrationSample;
  /** Length of the first axis: 1 for an image, the number of RoIs for a head. */
  readonly rows: number;
}

export interface SkippedSample {
  readonly sample: CalibrationSample;
  readonly reason: string;
}

export function reportCalibration(
  part: string,
  sketches: ModelSketches,
  {
    used,
    skipped,
    joins,
  }: {
    readonly used: readonly UsedSample[];
    readonly skipped: readonly SkippedSample[];
    readonly joins: readonly JoinEntry[];
  },
): JsonObject {
  return {
    part,
    samples: used.map(({ sample, rows }) => ({ sample: sample.id, file: sample.source, rows })),
    skipped: skipped.map(({ sample, reason }) => ({ sample: sample.id, file: sample.source, reason })),
    ...(joins.length === 0 ? {} : { joins: joins.map(join => ({ ...join })) }),
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
