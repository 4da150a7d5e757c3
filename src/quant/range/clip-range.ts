/** The clip range method: a share of a range. */
import type { Range } from '../integers/qparams.js';

/** Ends are rounded to float32. @param share over 0, at most 1. */
export function clipRange({ low, high }: Range, share: number): Range {
  return { low: Math.fround(low * share), high: Math.fround(high * share) };
}
