/** Comparison of tensors: sums in double precision that can be merged over samples, and figures derived from them. */

import { EQUAL, type Figure } from '../base/figure.js';
import { integer, number, openObject } from '../base/schema/build-schema.js';
import { FIGURE_SCHEMA } from '../base/schema/figure-schema.js';
import type { FromSchema } from '../base/schema/from-schema.js';
import { fixed } from '../base/text/fixed.js';
import { addPairsByKernel, addSquaresByKernel, type ValueSums } from './kernels/compare-kernel.js';

/** Sums over pairs of elements (reference, candidate). Immutable: merging and adding return new sums. */
export interface Comparison {
  readonly count: number;
  /** Largest absolute difference. */
  readonly maxAbs: number;
  /** Number of pairs of which exactly one is NaN or infinite, or both are and differ. They are not in the sums. */
  readonly broken: number;
  readonly referenceSquares: number;
  readonly candidateSquares: number;
  readonly products: number;
  readonly errorSquares: number;
  readonly reference: SoleNumber;
  readonly candidate: SoleNumber;
}

/** The number that all elements of a tensor equal; 'varies' if two differ, undefined without elements. */
export type SoleNumber = number | 'varies' | undefined;

export const NO_COMPARISON: Comparison = {
  count: 0,
  maxAbs: 0,
  broken: 0,
  referenceSquares: 0,
  candidateSquares: 0,
  products: 0,
  errorSquares: 0,
  reference: undefined,
  candidate: undefined,
};

/** Elements per call of an inner loop: V8 optimizes functions that are called often better than a single long loop. */
const BLOCK = 4096;

/** Compares two arrays of equal length element by element. The caller checks shapes. @throws RangeError if the lengths differ. */
export function compareArrays(reference: ArrayLike<number>, candidate: ArrayLike<number>): Comparison {
  return compareAndAdd(reference, candidate, undefined);
}

/** The same, and the moments of the reference. @throws RangeError if the lengths differ. */
export function compareAndDescribe(
  reference: ArrayLike<number>,
  candidate: ArrayLike<number>,
): { readonly comparison: Comparison; readonly moments: Moments } {
  const pass = firstPass();
  return { comparison: compareAndAdd(reference, candidate, pass), moments: concludeMoments(reference, pass) };
}

/** @param pass gets the elements of the reference. */
function compareAndAdd(reference: ArrayLike<number>, candidate: ArrayLike<number>, pass: ValueSums | undefined): Comparison {
  const count = reference.length;
  if (count !== candidate.length) throw new RangeError(`cannot compare arrays of ${count} and ${candidate.length} elements`);
  const sums: Sums = { maxAbs: 0, broken: 0, referenceSquares: 0, candidateSquares: 0, products: 0, errorSquares: 0 };
  const areFloats = reference instanceof Float32Array && candidate instanceof Float32Array;
  const added = areFloats ? addPairsByKernel(sums, pass ?? firstPass(), reference, candidate) : 0;
  for (let from = added; from < count; from += BLOCK) {
    const end = Math.min(from + BLOCK, count);
    addPairs(sums, reference, candidate, { from, end });
    if (pass !== undefined) addValues(pass, reference, from, end);
  }
  return { count, ...sums, reference: findSole(reference), candidate: findSole(candidate) };
}

type Sums = { -readonly [Name in Exclude<keyof Comparison, 'count' | 'reference' | 'candidate'>]: number };

function findSole(values: ArrayLike<number>): SoleNumber {
  const first = values[0];
  for (let i = 1; i < values.length; i++) if (values[i] !== first) return 'varies';
  return first;
}

function joinSole(a: SoleNumber, b: SoleNumber): SoleNumber {
  if (a === undefined || b === undefined) return a ?? b;
  return a === b ? a : 'varies';
}

interface Range {
  readonly from: number;
  readonly end: number;
}

/** Adds to `sums` in place. */
function addPairs(sums: Sums, reference: ArrayLike<number>, candidate: ArrayLike<number>, { from, end }: Range): void {
  let { maxAbs, broken, referenceSquares, candidateSquares, products, errorSquares } = sums;
  for (let i = from; i < end; i++) {
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
  Object.assign(sums, { maxAbs, broken, referenceSquares, candidateSquares, products, errorSquares });
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
    reference: joinSole(a.reference, b.reference),
    candidate: joinSole(a.candidate, b.candidate),
  };
}

/** Signal to quantization noise ratio in dB: 10 log10(Σ x² / Σ (x − y)²). Infinity for equal tensors; −Infinity for errors without signal and for non-finite pairs. */
export function sqnrDbOf(comparison: Comparison): number {
  if (comparison.broken > 0) return Number.NEGATIVE_INFINITY;
  if (comparison.errorSquares === 0) return Number.POSITIVE_INFINITY;
  return 10 * Math.log10(comparison.referenceSquares / comparison.errorSquares);
}

/** Cosine similarity: 1 for equal tensors, including all zeros; 0 if only one is zero or a pair is not finite. */
export function cosineOf(comparison: Comparison): number {
  if (comparison.broken > 0) return 0;
  if (comparison.errorSquares === 0) return 1;
  const scale = Math.sqrt(comparison.referenceSquares) * Math.sqrt(comparison.candidateSquares);
  return scale === 0 ? 0 : Math.max(-1, Math.min(1, comparison.products / scale));
}

/** SQNRs of different tensors are clamped to ± this value: JSON has no infinity, and `>= 999` is true for equal tensors only. */
const LIMIT_DB = 998;

/** A comparison in reports and metrics: finite numbers, or "equal". */
export const COMPARISON_SCHEMA = openObject({
  maxAbs: number({ minimum: 0 }, 'Largest absolute difference.'),
  cosine: number({ minimum: -1, maximum: 1 }, 'Cosine similarity.'),
  /** "equal" if no element differs. */
  sqnrDb: FIGURE_SCHEMA,
  elements: integer(0, 'Number of compared elements.'),
  broken: integer(0, 'Pairs of which exactly one is NaN or infinite, or both are and differ.'),
});

export type ComparisonFigures = FromSchema<typeof COMPARISON_SCHEMA>;

export function figuresOf(comparison: Comparison): ComparisonFigures {
  return {
    maxAbs: comparison.maxAbs,
    cosine: cosineOf(comparison) || 0,
    sqnrDb: comparison.maxAbs === 0 && comparison.broken === 0 ? EQUAL : limitDb(sqnrDbOf(comparison)),
    elements: comparison.count,
    broken: comparison.broken,
  };
}

/** A figure that JSON holds: −998 to 998. Squares outside the range of a double give NaN, which is −998. */
export function limitDb(db: number): number {
  return Number.isNaN(db) ? -LIMIT_DB : Math.max(-LIMIT_DB, Math.min(LIMIT_DB, db));
}

/** "34.12 dB", or "equal". */
export function formatSqnr(db: Figure, digits: number): string {
  return db === EQUAL ? EQUAL : `${fixed(db, digits)} dB`;
}

/** Count, mean and sum of squared deviations, with numerically stable merging (Chan, Golub and LeVeque 1979). */
export interface Moments {
  readonly count: number;
  readonly mean: number;
  readonly squares: number;
  readonly min: number;
  readonly max: number;
}

export const NO_MOMENTS: Moments = { count: 0, mean: 0, squares: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };

export function momentsOf(values: ArrayLike<number>): Moments {
  const pass = firstPass();
  for (let from = 0; from < values.length; from += BLOCK) addValues(pass, values, from, Math.min(from + BLOCK, values.length));
  return concludeMoments(values, pass);
}

function firstPass(): ValueSums {
  return { sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
}

function concludeMoments(values: ArrayLike<number>, { sum, min, max }: ValueSums): Moments {
  const count = values.length;
  const mean = count === 0 ? 0 : sum / count;
  const first = values instanceof Float32Array ? addSquaresByKernel(values, mean) : { sum: 0, added: 0 };
  let squares = first.sum;
  for (let from = first.added; from < count; from += BLOCK)
    squares = addSquares(squares, values, mean, { from, end: Math.min(from + BLOCK, count) });
  return { count, mean, squares, min, max };
}

/** Adds to `pass` in place: while a sum waits for the one before, the others are free. */
function addValues(pass: ValueSums, values: ArrayLike<number>, from: number, end: number): void {
  let { sum, min, max } = pass;
  for (let i = from; i < end; i++) {
    const x = values[i] as number;
    sum += x;
    if (x < min) min = x;
    if (x > max) max = x;
  }
  pass.sum = sum;
  pass.min = min;
  pass.max = max;
}

/** Adds squared deviations from `mean` to `squares`. */
function addSquares(squares: number, values: ArrayLike<number>, mean: number, { from, end }: Range): number {
  let sum = squares;
  for (let i = from; i < end; i++) {
    const deviation = (values[i] as number) - mean;
    sum += deviation * deviation;
  }
  return sum;
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

/** The population standard deviation (divided by n); 0 without elements. */
export function standardDeviationOf(moments: Moments): number {
  return moments.count === 0 ? 0 : Math.sqrt(moments.squares / moments.count);
}
