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
const ITERATIONS = 20;

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
  const squares = sumRows(rest, rest, columns);
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const image = await multiply(direction);
    const curves = sumRows(direction, image, columns);
    for (const [row, curve] of curves.entries()) {
      const step = curve > 0 ? (squares[row] as number) / curve : 0;
      for (let i = row * columns; i < (row + 1) * columns; i++) {
        wanted[i] = (wanted[i] as number) + step * (direction[i] as number);
        rest[i] = (rest[i] as number) - step * (image[i] as number);
      }
    }
    for (const [row, square] of sumRows(rest, rest, columns).entries()) {
      const kept = squares[row] === 0 ? 0 : square / (squares[row] as number);
      for (let i = row * columns; i < (row + 1) * columns; i++) direction[i] = (rest[i] as number) + kept * (direction[i] as number);
      squares[row] = square;
    }
  }
  return { wanted, rest };
}

/** Σ a·b of each row. */
function sumRows(a: Float32Array, b: Float32Array, columns: number): Float64Array {
  const sums = new Float64Array(a.length / columns);
  for (let row = 0; row < sums.length; row++) {
    let sum = 0;
    for (let i = row * columns; i < (row + 1) * columns; i++) sum += (a[i] as number) * (b[i] as number);
    sums[row] = sum;
  }
  return sums;
}
