/** The triangular factor of sequential rounding: how the error of one weight is spread over those that are still open. */
import { QuantError } from '../../integers/quant-error.js';
import { dampingOfProducts } from './damped-products.js';
import type { SquareMatrix } from './square-matrix.js';

/**
 * Returns the upper triangular U with UᵀU = (H + λI)⁻¹, where λ is `damping` times the mean of H's diagonal.
 * A diagonal element 0 (an input that is always 0) counts as 1. Reads the upper triangle of H.
 * H + λI = V·Vᵀ with V upper triangular, by Cholesky's algorithm from the last row up, and U = V⁻¹.
 * @throws QuantError `not-finite` if H is not finite, or not positive definite after damping.
 */
export function invertFactor(products: SquareMatrix, damping: number): SquareMatrix {
  const { size } = products;
  const factor = factorUpwards(dampen(products, damping), size);
  const inverse = new Float64Array(size * size);
  // Row by row from the last: V·U = I.
  for (let row = size - 1; row >= 0; row--) {
    const at = row * size;
    const pivot = factor[at + row] ?? 1;
    for (let k = row + 1; k < size; k++) {
      const share = factor[at + k] ?? 0;
      for (let column = k; column < size; column++)
        inverse[at + column] = (inverse[at + column] ?? 0) - share * (inverse[k * size + column] ?? 0);
    }
    for (let column = row + 1; column < size; column++) inverse[at + column] = (inverse[at + column] ?? 0) / pivot;
    inverse[at + row] = 1 / pivot;
  }
  return { size, data: inverse };
}

function dampen(products: SquareMatrix, share: number): Float64Array {
  const { size } = products;
  const damped = Float64Array.from(products.data);
  const damping = dampingOfProducts(products, share);
  for (let i = 0; i < size; i++) {
    const at = i * size + i;
    damped[at] = (damped[at] === 0 ? 1 : (damped[at] as number)) + damping;
  }
  return damped;
}

/** V with V·Vᵀ = the symmetric matrix, upper triangular; overwrites the upper triangle. */
function factorUpwards(matrix: Float64Array, size: number): Float64Array {
  for (let pivot = size - 1; pivot >= 0; pivot--) {
    const rest = (matrix[pivot * size + pivot] ?? 0) - dotRows(matrix, size, pivot, pivot, pivot + 1);
    const root = Math.sqrt(rest);
    if (!(root > 0) || !Number.isFinite(root)) {
      throw new QuantError('not-finite', `the inputs of the layer are not finite, or too much alike at input ${pivot}`, {
        help: 'use more samples, or more damping',
      });
    }
    for (let row = 0; row < pivot; row++)
      matrix[row * size + pivot] = ((matrix[row * size + pivot] ?? 0) - dotRows(matrix, size, row, pivot, pivot + 1)) / root;
    matrix[pivot * size + pivot] = root;
  }
  return matrix;
}

/** The product of two rows from column `from` on. */
function dotRows(matrix: Float64Array, size: number, a: number, b: number, from: number): number {
  let sum = 0;
  for (let k = from; k < size; k++) sum += (matrix[a * size + k] ?? 0) * (matrix[b * size + k] ?? 0);
  return sum;
}

/** UᵀU·(target − H·weights): how the weights change so that the layer computes its target on the inputs behind H, as far as damping allows. */
export function fitTarget(
  weights: ArrayLike<number>,
  target: ArrayLike<number>,
  products: SquareMatrix,
  factor: SquareMatrix,
): Float64Array {
  const { size, data } = factor;
  const rest = Float64Array.from({ length: size }, (_, i) => (target[i] as number) - dotSymmetric(products, i, weights));
  const inner = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    let sum = 0;
    for (let j = i; j < size; j++) sum += (data[i * size + j] as number) * (rest[j] as number);
    inner[i] = sum;
  }
  const change = new Float64Array(size);
  for (let i = 0; i < size; i++)
    for (let j = i; j < size; j++) change[j] = (change[j] as number) + (data[i * size + j] as number) * (inner[i] as number);
  return change;
}

/** The product of row `row` of a symmetric matrix, of which the upper triangle counts, with a vector. */
function dotSymmetric({ size, data }: SquareMatrix, row: number, vector: ArrayLike<number>): number {
  let sum = 0;
  for (let j = 0; j < size; j++) sum += (data[j < row ? j * size + row : row * size + j] as number) * (vector[j] as number);
  return sum;
}
