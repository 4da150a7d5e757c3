/** The squared error of quantizing a value, computed from its distribution. */

import type { QParams } from '../integers/qparams.js';
import { type IntegerScheme, storageRange } from '../integers/quantized-dtype.js';
import type { Distribution } from '../sketch/distribution.js';

/**
 * Σ (x − dequantized x)² over all elements, including saturated ones.
 *
 * A bin inside one quantization step counts as its mean plus the variance of evenly spread elements, (count − 1) · width² / 12, or less if the mean lies
 * close to an edge. If a bin contains a step border, or steps are narrower than bins, its elements count as evenly spread.
 * Borders of power-of-two steps of at least two bins fall on bin edges: there, the errors at two scales differ exactly as those of the elements,
 * up to the resolution of the means. Bounds: docs/numerics.md.
 */
export function squaredError(distribution: Distribution, qparams: QParams, { dtype }: IntegerScheme): number {
  return errorOfBins(binsOf(distribution), stepsOf(qparams, dtype), Number.POSITIVE_INFINITY);
}

/** As `squaredError`, or Infinity where that is not below `enough`: then it ends early. */
export function squaredErrorBelow(distribution: Distribution, qparams: QParams, { dtype }: IntegerScheme, enough: number): number {
  const [bins, steps] = [binsOf(distribution), stepsOf(qparams, dtype)];
  return leastSaturationError(bins, steps) > enough ? Number.POSITIVE_INFINITY : errorOfBins(bins, steps, enough);
}

/** Step numbers relative to zero. */
interface Steps {
  readonly scale: number;
  readonly least: number;
  readonly greatest: number;
}

function stepsOf({ scale, zeroPoint }: QParams, dtype: IntegerScheme['dtype']): Steps {
  const { low, high } = storageRange(dtype);
  return { scale, least: low - zeroPoint, greatest: high - zeroPoint };
}

/** The bins that have elements: what their error depends on. */
interface Bins {
  readonly width: number;
  readonly counts: Float64Array;
  readonly means: Float64Array;
  /** The outermost bins end at the outermost elements. */
  readonly lefts: Float64Array;
  readonly rights: Float64Array;
  /** The squared error of the elements of a bin around their mean. */
  readonly spreads: Float64Array;
  /** Of the bins before each, and of all: the sums of counts, of counts · means, and of counts · squares of means. */
  readonly sums: readonly [counts: Float64Array, means: Float64Array, squares: Float64Array];
}

/** Cache: errors of one distribution are computed for many scales. */
const KNOWN = new WeakMap<Distribution, Bins>();

function binsOf(distribution: Distribution): Bins {
  const known = KNOWN.get(distribution) ?? findBins(distribution);
  KNOWN.set(distribution, known);
  return known;
}

function findBins({ counts: all, means: allMeans, width, first, min, max }: Distribution): Bins {
  let filled = 0;
  for (let i = 0; i < all.length; i++) if (all[i] !== 0) filled++;
  const make = (length: number): Float64Array => new Float64Array(length);
  const [counts, means, lefts, rights, spreads] = [make(filled), make(filled), make(filled), make(filled), make(filled)];
  const [ofCounts, ofMeans, ofSquares] = [make(filled + 1), make(filled + 1), make(filled + 1)];
  for (let i = 0, at = 0; i < all.length; i++) {
    const count = all[i] as number;
    if (count === 0) continue;
    const mean = allMeans[i] as number;
    const left = Math.max((first + i) * width, min);
    const right = Math.min((first + i + 1) * width, max);
    const span = right - left;
    counts[at] = count;
    means[at] = mean;
    lefts[at] = left;
    rights[at] = right;
    spreads[at] = (count - 1) * Math.max(0, Math.min((span * span) / 12, (mean - left) * (right - mean)));
    ofCounts[at + 1] = (ofCounts[at] as number) + count;
    ofMeans[at + 1] = (ofMeans[at] as number) + count * mean;
    ofSquares[at + 1] = (ofSquares[at] as number) + count * mean * mean;
    at++;
  }
  return { width, counts, means, lefts, rights, spreads, sums: [ofCounts, ofMeans, ofSquares] };
}

/** Infinity as soon as the sum reaches `enough`: no part of it is negative. The loop takes half the time without arrays and calls in it. */
function errorOfBins({ width, counts, means, lefts, rights, spreads }: Bins, steps: Steps, enough: number): number {
  const { scale, least, greatest } = steps;
  const isFine = scale < width;
  let error = 0;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] as number;
    const left = lefts[i] as number;
    const right = rights[i] as number;
    const step = Math.floor(left / scale + 0.5);
    const nearest = step < least ? least : step > greatest ? greatest : step;
    // The next step starts half a step above `nearest`; the largest step has no upper border.
    const border = nearest === greatest ? Number.POSITIVE_INFINITY : (nearest + 0.5) * scale;
    if (right <= border) {
      const distance = (means[i] as number) - nearest * scale;
      error += count * distance * distance + (spreads[i] as number);
    } else if (isFine) {
      error += (count / (right - left)) * spreadErrorOfFine(steps, left, right);
    } else {
      error += (count / (right - left)) * (integral(left, border, nearest * scale) + integral(border, right, (nearest + 1) * scale));
    }
    if (error >= enough) return Number.POSITIVE_INFINITY;
  }
  return error;
}

/** Relative to the sums that a bound is computed from: far above their rounding, n · 2⁻⁵³ for n bins. */
const MARGIN = 1e-9;

/** What the bins beyond the outermost steps add at least: the squares of the distances of their means. Never more than `errorOfBins` computes. */
function leastSaturationError(
  { counts, lefts, rights, sums: [ofCounts, ofMeans, ofSquares] }: Bins,
  { scale, least, greatest }: Steps,
): number {
  const errorBetween = (from: number, to: number, at: number): number => {
    const count = (ofCounts[to] as number) - (ofCounts[from] as number);
    const mean = (ofMeans[to] as number) - (ofMeans[from] as number);
    const square = (ofSquares[to] as number) - (ofSquares[from] as number);
    const size = (ofSquares[counts.length] as number) + at * at * (ofCounts[counts.length] as number);
    return Math.max(0, square - 2 * at * mean + at * at * count - MARGIN * size);
  };
  const below = errorBetween(0, countUpTo(rights, least * scale), least * scale);
  const above = errorBetween(countUpTo(lefts, greatest * scale), counts.length, greatest * scale);
  return (below + above) * (1 - MARGIN);
}

/** How many of the ascending edges are at most `border`. */
function countUpTo(edges: Float64Array, border: number): number {
  let [low, high] = [0, edges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((edges[middle] as number) <= border) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** ∫ (x − at)² from `from` to `to`. */
function integral(from: number, to: number, at: number): number {
  const [a, b] = [from - at, to - at];
  return (b * b * b - a * a * a) / 3;
}

/** ∫ (x − its step)² over a bin that contains many steps: step² / 12 per unit of width, plus the part that saturates. */
function spreadErrorOfFine({ scale, least, greatest }: Steps, left: number, right: number): number {
  const [bottom, top] = [(least - 0.5) * scale, (greatest + 0.5) * scale];
  const below = left < bottom ? integral(left, Math.min(right, bottom), least * scale) : 0;
  const above = right > top ? integral(Math.max(left, top), right, greatest * scale) : 0;
  const inside = Math.max(0, Math.min(right, top) - Math.max(left, bottom));
  return below + above + (inside * scale * scale) / 12;
}
