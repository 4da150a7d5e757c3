/** Quality of chosen parameters for one value: the share of saturated elements, and SQNR, both from its sketch. */

import type { QParams } from '../integers/qparams.js';
import { type IntegerScheme, storageRange } from '../integers/quantized-dtype.js';
import { type Distribution, distributionOf } from '../sketch/distribution.js';
import type { Sketch } from '../sketch/sketch.js';
import { squaredError } from './squared-error.js';

/**
 * Share of the finite elements (0 … 1) that lie beyond the smallest or largest integer by more than half a step.
 * Elements of a bin that the limit divides count as evenly spread. Exactly 0 if minimum and maximum are inside, and if there are no elements.
 */
export function saturationShare(sketch: Sketch, { scale, zeroPoint }: QParams, { dtype }: IntegerScheme): number {
  const distribution = distributionOf(sketch);
  const { low, high } = storageRange(dtype);
  const [bottom, top] = [(low - zeroPoint - 0.5) * scale, (high - zeroPoint + 0.5) * scale];
  const { min, max, total } = distribution;
  if (total === 0 || (min >= bottom && max <= top)) return 0;
  return (countBelow(distribution, bottom) + countAbove(distribution, top)) / total;
}

/**
 * 10 log10(Σ x² / Σ (x − its quantized value)²) in dB: the error of this value alone, with exact inputs. Infinity if nothing is lost;
 * undefined if all elements are zero.
 */
export function ownSqnr(sketch: Sketch, qparams: QParams, integers: IntegerScheme): number | undefined {
  const distribution = distributionOf(sketch);
  if (distribution.squares === 0) return undefined;
  const error = squaredError(distribution, qparams, integers);
  return error === 0 ? Number.POSITIVE_INFINITY : 10 * Math.log10(distribution.squares / error);
}

function countBelow(distribution: Distribution, border: number): number {
  const { counts, first, width, min } = distribution;
  if (min >= border) return 0;
  let count = 0;
  for (let i = 0; i < counts.length; i++) {
    const left = (first + i) * width;
    if (left >= border) break;
    count += (counts[i] as number) * Math.min(1, (border - left) / width);
  }
  return count;
}

function countAbove(distribution: Distribution, border: number): number {
  const { counts, first, width, max } = distribution;
  if (max <= border) return 0;
  let count = 0;
  for (let i = counts.length - 1; i >= 0; i--) {
    const right = (first + i + 1) * width;
    if (right <= border) break;
    count += (counts[i] as number) * Math.min(1, (right - border) / width);
  }
  return count;
}
