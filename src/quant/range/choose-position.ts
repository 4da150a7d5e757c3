/** Chooses power-of-two scales of activations: from the range, or by the smallest squared error over candidate positions. */

import { nearestPosition, POSITIONS, positionNotBelow, scaleAt } from '../integers/power-of-two.js';
import { computeQParams, middleOf, type QParams, type Range, zeroPointOf } from '../integers/qparams.js';
import { type IntegerScheme, mappedRange } from '../integers/quantized-dtype.js';
import { distributionOf } from '../sketch/distribution.js';
import type { Sketch } from '../sketch/sketch.js';
import type { PositionRule } from './range-method.js';
import { squaredError } from './squared-error.js';

/** The float scale of the range, moved to a power of two. A range that contains only zero gets scale 1. */
export function fitPosition(range: Range, rounding: 'nearest' | 'up', integers: IntegerScheme): QParams {
  const { scale } = computeQParams(range, integers);
  const position = rounding === 'nearest' ? nearestPosition(scale) : positionNotBelow(scale);
  return paramsAt(position, range, integers);
}

/**
 * Of the candidate positions of `rule`, counted from the nearest position of the data range, the one with the smallest squared error.
 * Ties go to the smallest position, which is the largest scale. Data that contains only zeros gets scale 1.
 */
export function findLeastError(sketch: Sketch, seen: Range, rule: PositionRule & { kind: 'min-mse' }, integers: IntegerScheme): QParams {
  const distribution = distributionOf(sketch);
  const start = nearestPosition(computeQParams(seen, integers).scale);
  if (seen.low === 0 && seen.high === 0) return paramsAt(start, seen, integers);
  let best: { readonly error: number; readonly qparams: QParams } | undefined;
  for (let position = start + rule.first; position <= start + rule.last; position++) {
    if (position < POSITIONS.low || position > POSITIONS.high) continue;
    const qparams = paramsAt(position, seen, integers);
    const error = squaredError(distribution, qparams, integers);
    if (best === undefined || error < best.error) best = { error, qparams };
  }
  return best?.qparams ?? paramsAt(start, seen, integers);
}

/** Zero point in the middle for symmetric schemes; otherwise the low end of the range maps to the smallest integer. */
export function paramsAt(position: number, { low }: Range, integers: IntegerScheme): QParams {
  const scale = scaleAt(position);
  return { scale, zeroPoint: integers.symmetric ? middleOf(integers) : zeroPointOf(Math.min(low, 0), scale, mappedRange(integers)) };
}
