/** Rounding of values to the integers of a type. */
import { roundHalfEven } from '../../base/round-half-even.js';

/** round(x), limited to [low, high]. NaN gives `low`. */
export function saturate(x: number, low: number, high: number): number {
  const rounded = roundHalfEven(x);
  if (rounded >= high) return high;
  return rounded > low ? rounded : low;
}
