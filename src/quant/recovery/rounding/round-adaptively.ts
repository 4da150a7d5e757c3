/**
 * Adaptive rounding (AdaRound): whether each weight is rounded up or down follows from the squared error of the outputs.
 * Source: Nagel et al., 2020 (arXiv 2004.10568), with the products of all inputs in place of batches.
 */
import { settleChoices } from './settle-choices.js';
import { differentiate, moveShares, openSoftRows, type Regularizer, type SoftRows, type WeightRow } from './soft-rows.js';
import type { SquareMatrix } from './triangular-factor.js';

/** Without regularizer at first, then its exponent falls along half a cosine. */
const [WARM_UP, FIRST_EXPONENT, LAST_EXPONENT, STRENGTH] = [0.2, 20, 2, 0.01];

/** Adam, Kingma and Ba, 2015 (arXiv 1412.6980). */
const [RATE, DECAY, SQUARE_DECAY, TINY] = [0.05, 0.9, 0.999, 1e-8];

/** In units of a row. */
const SMALLEST_GAIN = 1e-9;

/** H·x of each row, with H of its group: rows of all groups one after the other. */
export type Multiply = (rows: Float64Array) => Promise<ArrayLike<number>>;

/**
 * Returns the integers of each row: each the one below or above its weight. They lower (q − w)ᵀ·H·(q − w), where H of `productsOf` has both triangles.
 * In the end neither one other choice nor two lower it further.
 */
export async function roundAdaptively(
  rows: readonly WeightRow[],
  productsOf: (row: number) => SquareMatrix,
  multiply: Multiply,
  iterations: number,
): Promise<readonly Int32Array[]> {
  const soft = openSoftRows(rows, productsOf);
  await descend(soft, multiply, iterations);
  return rows.map((_, row) => decide(soft, row, productsOf(row)));
}

async function descend(soft: SoftRows, multiply: Multiply, iterations: number): Promise<void> {
  const { variables, differences } = soft;
  const make = (): Float64Array => new Float64Array(variables.length);
  const [gradient, mean, square] = [make(), make(), make()];
  for (let step = 1; step <= iterations; step++) {
    const pull = await multiply(differences);
    if (differentiate(soft, pull, regularizerAt((step - 1) / iterations), gradient) === 0) return;
    const [meanLeft, squareLeft] = [1 - DECAY ** step, 1 - SQUARE_DECAY ** step];
    for (let i = 0; i < variables.length; i++) {
      const slope = gradient[i] as number;
      const m = DECAY * (mean[i] as number) + (1 - DECAY) * slope;
      const v = SQUARE_DECAY * (square[i] as number) + (1 - SQUARE_DECAY) * slope * slope;
      mean[i] = m;
      square[i] = v;
      variables[i] = (variables[i] as number) - (RATE * m) / meanLeft / (Math.sqrt(v / squareLeft) + TINY);
    }
    moveShares(soft);
  }
}

function regularizerAt(progress: number): Regularizer {
  if (progress < WARM_UP) return { strength: 0, exponent: FIRST_EXPONENT };
  const part = (progress - WARM_UP) / (1 - WARM_UP);
  const exponent = LAST_EXPONENT + ((FIRST_EXPONENT - LAST_EXPONENT) * (1 + Math.cos(part * Math.PI))) / 2;
  return { strength: STRENGTH, exponent };
}

/** The integers of one row: up from a share of one half. */
function decide({ columns, steps, shares, lower, units, ...soft }: SoftRows, row: number, products: SquareMatrix): Int32Array {
  const start = row * columns;
  const isUp = (i: number): boolean => (shares[start + i] as number) >= 0.5;
  const changes = steps.slice(start, start + columns).map((step, i) => (isUp(i) ? -step : step));
  const differences = soft.differences
    .slice(start, start + columns)
    .map((difference, i) => difference + ((isUp(i) ? 1 : 0) - (shares[start + i] as number)) * (steps[start + i] as number));
  settleChoices({ changes, differences, smallestGain: SMALLEST_GAIN * (units[row] as number) }, products);
  return lower.slice(start, start + columns).map((integer, i) => integer + ((changes[i] as number) < 0 ? 1 : 0));
}
