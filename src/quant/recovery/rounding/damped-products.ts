/** Products of a group's inputs with damping: what the squared error of its rows is computed with. */
import { QuantError } from '../../integers/quant-error.js';
import type { SquareMatrix } from './square-matrix.js';

/** H + λI. */
export interface DampedProducts extends SquareMatrix {
  /** λ; it is not in `data`. */
  readonly damping: number;
  /** X with H = XᵀX, a row per position, where it has few rows. */
  readonly inputs?: Float32Array | undefined;
}

/**
 * λ is `share` times the mean of the diagonal of H, where elements 0 (an input that is always 0) count as 1.
 * @throws QuantError `not-finite`.
 */
export function dampProducts(products: SquareMatrix, share: number, inputs?: Float32Array): DampedProducts {
  const damping = dampingOf(products, share);
  if (!Number.isFinite(damping)) {
    throw new QuantError('not-finite', 'the inputs of the layer are not finite', {
      help: 'look for a division by zero or an overflow before it',
    });
  }
  return { ...products, damping, inputs };
}

export function dampingOf({ size, data }: SquareMatrix, share: number): number {
  let trace = 0;
  for (let i = 0; i < size; i++) {
    const square = data[i * size + i] as number;
    trace += square === 0 ? 1 : square;
  }
  return (share * trace) / size;
}
