/**
 * Sequential rounding: weights of one output are rounded one after the other, and the weights that are not rounded yet compensate each error.
 * Source: Frantar et al., GPTQ, 2022 (arXiv 2210.17323), in the order of the inputs.
 */
import { roundHalfEven } from '../../../base/round-half-even.js';
import { saturate } from '../../integers/rounding.js';
import type { RowGrid } from './row-grid.js';
import type { SquareMatrix } from './square-matrix.js';

/**
 * Returns the integers of one row of weights. They lower (w − q)ᵀ·H·(w − q), the squared error of the output on the inputs behind H.
 * Integers are rounded half to even and saturate.
 * @param factor U of `invertFactor` for the inputs of the row.
 */
export function roundSequentially(
  weights: ArrayLike<number>,
  { scales, zeroPoints, low, high }: RowGrid,
  factor: SquareMatrix,
): Int32Array {
  const { size, data } = factor;
  const open = Float64Array.from(weights);
  const integers = new Int32Array(size);
  for (let i = 0; i < size; i++) {
    const wanted = open[i] ?? 0;
    const [scale, zeroPoint] = [scales[i] ?? 1, zeroPoints[i] ?? 0];
    const integer = saturate(roundHalfEven(wanted / scale) + zeroPoint, low, high);
    integers[i] = integer;
    const error = (wanted - (integer - zeroPoint) * scale) / (data[i * size + i] ?? 1);
    for (let j = i + 1; j < size; j++) open[j] = (open[j] ?? 0) - error * (data[i * size + j] ?? 0);
  }
  return integers;
}
