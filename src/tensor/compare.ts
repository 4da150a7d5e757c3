/** How far is one tensor from another? Sums in double that merge over samples, and the figures read off them. */
import { EQUAL, type Figure } from '../base/figure.js';

/** Sums over pairs of elements (reference, candidate). A value: merging and adding give new ones. */
export interface Comparison {
  readonly count: number;
  /** Largest absolute difference. */
  readonly maxAbs: number;
  /** Pairs of which exactly one is NaN or infinite, or both are and differ. They are in no sum. */
  readonly broken: number;
  readonly referenceSquares: number;
  readonly candidateSquares: number;
  readonly products: number;
  readonly errorSquares: number;
}

export const NO_COMPARISON: Comparison = {
  count: 0,
  maxAbs: 0,
  broken: 0,
  referenceSquares: 0,
  candidateSquares: 0,
  products: 0,
  errorSquares: 0,
};

/** Compares two arrays of the same length element by element. @throws RangeError where the lengths differ: shapes are the caller's to check. */
export function compareArrays(reference: ArrayLike<number>, candidate: ArrayLike<number>): Comparison {
  if (reference.length !== candidate.length)
    throw new RangeError(`arrays of ${reference.length} and ${candidate.length} elements are compared`);
  let [maxAbs, broken, referenceSquares, candidateSquares, products, errorSquares] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < reference.length; i++) {
    const x = reference[i] as number;
    const y = candidate[i] as number;
    const error = Math.abs(x - y);
    if (!(error < Number.POSITIVE_INFINITY)) {
      if (!Object.is(x, y)) broken += 1;
      continue;
    }
    if (error > maxAbs) maxAbs = error;
    referenceSquares += x * x;
    candidateSquares += y * y;
    products += x * y;
    errorSquares += error * error;
  }
  return { count: reference.length, maxAbs, broken, referenceSquares, candidateSquares, products, errorSquares };
}

export function mergeComparisons(a: Comparison, b: Comparison): Comparison {
  return {
    count: a.count + b.count,
    maxAbs: Math.max(a.maxAbs, b.maxAbs),
    broken: a.broken + b.broken,
    referenceSquares: a.referenceSquares + b.referenceSquares,
    candidateSquares: a.candidateSquares + b.candidateSquares,
    products: a.products + b.products,
    errorSquares: a.errorSquares + b.errorSquares,
  };
}

/** Signal to quantization noise in dB: 10 log10(Σ x² / Σ (x − y)²). Equal: Infinity. Error without signal, or a broken pair: −Infinity. */
export function sqnrDbOf(comparison: Comparison): number {
  if (comparison.broken > 0) return Number.NEGATIVE_INFINITY;
  if (comparison.errorSquares === 0) return Number.POSITIVE_INFINITY;
  return 10 * Math.log10(comparison.referenceSquares / comparison.errorSquares);
}

/** The cosine of the angle between the two: 1 for equal ones, all zeros included; 0 where one alone is zero, or a pair is broken. */
export function cosineOf(comparison: Comparison): number {
  if (comparison.broken > 0) return 0;
  if (comparison.errorSquares === 0) return 1;
  const scale = Math.sqrt(comparison.referenceSquares) * Math.sqrt(comparison.candidateSquares);
  return scale === 0 ? 0 : Math.max(-1, Math.min(1, comparison.products / scale));
}

/** SQNRs of tensors that differ are clamped to ± this: JSON has no −infinity, and `>= 999` holds of equal tensors alone. */
const LIMIT_DB = 998;

/** A comparison as reports and metrics carry it: finite numbers, and "equal". */
export interface ComparisonFigures {
  readonly maxAbs: number;
  readonly cosine: number;
  /** "equal" where no element differs. */
  readonly sqnrDb: Figure;
  readonly elements: number;
  readonly broken: number;
}

export function figuresOf(comparison: Comparison): ComparisonFigures {
  return {
    maxAbs: comparison.maxAbs,
    cosine: cosineOf(comparison) || 0,
    sqnrDb: comparison.maxAbs === 0 && comparison.broken === 0 ? EQUAL : limitDb(sqnrDbOf(comparison)),
    elements: comparison.count,
    broken: comparison.broken,
  };
}

/** NaN is what squares beyond the range of a double give. */
function limitDb(db: number): number {
  return Number.isNaN(db) ? -LIMIT_DB : Math.max(-LIMIT_DB, Math.min(LIMIT_DB, db));
}

/** "34.12 dB", or "equal". */
export function formatSqnr(db: Figure, digits: number): string {
  return db === EQUAL ? EQUAL : `${db.toFixed(digits)} dB`;
}

/** Count, mean and sum of squared deviations, mergeable without loss of digits (Chan, Golub and LeVeque 1979). */
export interface Moments {
  readonly count: number;
  readonly mean: number;
  readonly squares: number;
  readonly min: number;
  readonly max: number;
}

export const NO_MOMENTS: Moments = { count: 0, mean: 0, squares: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };

export function momentsOf(values: ArrayLike<number>): Moments {
  let [sum, min, max] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    sum += value;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  const mean = values.length === 0 ? 0 : sum / values.length;
  let squares = 0;
  for (let i = 0; i < values.length; i++) squares += ((values[i] as number) - mean) ** 2;
  return { count: values.length, mean, squares, min, max };
}

export function mergeMoments(a: Moments, b: Moments): Moments {
  const count = a.count + b.count;
  if (count === 0) return NO_MOMENTS;
  const delta = b.mean - a.mean;
  return {
    count,
    mean: a.mean + (delta * b.count) / count,
    squares: a.squares + b.squares + (delta * delta * a.count * b.count) / count,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
  };
}

/** The standard deviation of the whole population (divided by n); 0 without elements. */
export function standardDeviationOf(moments: Moments): number {
  return moments.count === 0 ? 0 : Math.sqrt(moments.squares / moments.count);
}

const float = new Float32Array(2);
const word = new Int32Array(float.buffer);

/** How many float32 numbers lie from `a` to `b` (both rounded to float32 first); +0 and −0 are one. NaN against anything: Infinity. */
export function ulpDistance(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.POSITIVE_INFINITY;
  float[0] = a;
  float[1] = b;
  const [x, y] = [toOrdinal(word[0] as number), toOrdinal(word[1] as number)];
  return Math.abs(x - y);
}

function toOrdinal(bits: number): number {
  return bits >= 0 ? bits : -(bits & 0x7fffffff);
}
