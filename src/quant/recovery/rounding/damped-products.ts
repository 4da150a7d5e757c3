/** Products of a group's inputs with damping: what the squared error of its rows is computed with. */
import { QuantError } from '../../integers/quant-error.js';
import type { GroupSums } from './layer-sums.js';
import type { SquareMatrix } from './square-matrix.js';

/** H + λI. */
export interface DampedProducts {
  readonly size: number;
  /** λ. */
  readonly damping: number;
  /** H_ii, without λ. */
  readonly diagonal: Float64Array;
  /** H, without λ, or what defines it. */
  readonly sums: GroupSums;
}

/**
 * λ is `share` times the mean of the diagonal of H, where elements 0 (an input that is always 0) count as 1.
 * @throws QuantError `not-finite`.
 */
export function dampProducts(sums: GroupSums, share: number): DampedProducts {
  const diagonal = diagonalOf(sums);
  const damping = dampingOf(diagonal, share);
  if (!Number.isFinite(damping)) {
    throw new QuantError('not-finite', 'the inputs of the layer are not finite', {
      help: 'look for a division by zero or an overflow before it',
    });
  }
  return { size: sums.size, damping, diagonal, sums };
}

function diagonalOf({ kind, size, data }: GroupSums): Float64Array {
  const diagonal = new Float64Array(size);
  if (kind === 'products') for (let i = 0; i < size; i++) diagonal[i] = data[i * size + i] as number;
  else for (let at = 0; at < data.length; at++) diagonal[at % size] = (diagonal[at % size] as number) + (data[at] as number) ** 2;
  return diagonal;
}

export function dampingOfProducts({ size, data }: SquareMatrix, share: number): number {
  return dampingOf(diagonalOf({ kind: 'products', size, data }), share);
}

function dampingOf(diagonal: Float64Array, share: number): number {
  const trace = diagonal.reduce((sum, square) => sum + (square === 0 ? 1 : square), 0);
  return (share * trace) / diagonal.length;
}
