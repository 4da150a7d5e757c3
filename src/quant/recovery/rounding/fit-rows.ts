/**
 * Weights that come closest to a target on the inputs behind H: least squares with damping, by conjugate gradients.
 * Source: Hestenes and Stiefel, "Methods of Conjugate Gradients for Solving Linear Systems", 1952.
 */
import type { Multiply } from './products-session.js';

export interface FittedRows {
  /** The weights, row after row. */
  readonly wanted: Float32Array;
  /** What they miss: the target minus (H + λI)·change − H·weights. */
  readonly rest: Float32Array;
}

/** Few: the largest errors go first, and weights that fit every sample exactly would not fit others. */
const ITERATIONS = 10;

export interface FitRequest {
  /** Row after row. */
  readonly weights: Float32Array;
  /** Σ x·y. */
  readonly targets: Float32Array;
  /** λ of each row. */
  readonly dampings: readonly number[];
  readonly columns: number;
}

/** @param multiply by H + λI. */
export async function fitRows({ weights, targets, dampings, columns }: FitRequest, multiply: Multiply): Promise<FittedRows> {
  const products = await multiply(weights);
  const rest = targets.map(
    (target, i) => target - ((products[i] as number) - (dampings[Math.floor(i / columns)] as number) * (weights[i] as number)),
  );
  const wanted = weights.slice();
  const direction = rest.slice();
  const rows = weights.length / columns;
  const squares = Float64Array.from({ length: rows }, (_, row) => dotRow(rest, rest, row * columns, columns));
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const image = await multiply(direction);
    for (let row = 0; row < rows; row++) {
      const start = row * columns;
      const curve = dotRow(direction, image, start, columns);
      const before = squares[row] as number;
      const step = curve > 0 ? before / curve : 0;
      addRow(wanted, direction, step, start, columns);
      const square = addRow(rest, image, -step, start, columns);
      scaleAndAddRow(direction, square === 0 ? 0 : square / before, rest, start, columns);
      squares[row] = square;
    }
  }
  return { wanted, rest };
}

/** Σ a·b. */
function dotRow(a: Float32Array, b: Float32Array, start: number, length: number): number {
  let sum = 0;
  for (let i = start; i < start + length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

/** Adds `factor` times `b` to `a`. Returns Σ a². */
function addRow(a: Float32Array, b: Float32Array, factor: number, start: number, length: number): number {
  let sum = 0;
  for (let i = start; i < start + length; i++) {
    const value = Math.fround((a[i] as number) + factor * (b[i] as number));
    a[i] = value;
    sum += value * value;
  }
  return sum;
}

/** a becomes `factor` · a + b. */
function scaleAndAddRow(a: Float32Array, factor: number, b: Float32Array, start: number, length: number): void {
  for (let i = start; i < start + length; i++) a[i] = (b[i] as number) + factor * (a[i] as number);
}
