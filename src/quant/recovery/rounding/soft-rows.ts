/**
 * Rows of weights between rounding down and rounding up, and the loss whose minimum decides.
 * Source: Nagel et al., "Up or Down? Adaptive Rounding for Post-Training Quantization", 2020 (arXiv 2004.10568), equations 21 to 24.
 */
import type { RowGrid } from './row-grid.js';
import type { SquareMatrix } from './triangular-factor.js';

/** The sigmoid is stretched to (LOWEST, HIGHEST) and clipped to [0, 1], so that 0 and 1 are reached. */
const [LOWEST, HIGHEST] = [-0.1, 1.1];

export interface WeightRow {
  /** What the weights would be without rounding. */
  readonly wanted: ArrayLike<number>;
  readonly grid: RowGrid;
}

/** A row has `columns` elements of each array. */
export interface SoftRows {
  readonly columns: number;
  /** The integers below the weights. */
  readonly lower: Int32Array;
  /** What rounding up adds to a weight; 0 where the limits of the integers leave no choice. */
  readonly steps: Float64Array;
  /** A weight's share of its step is the rectified sigmoid of its variable. */
  readonly variables: Float64Array;
  readonly shares: Float64Array;
  /** What the shares add to the weights: q − w. */
  readonly differences: Float64Array;
  /** Per row: the mean of step² · H_jj. Squared errors are counted in it, so that the loss does not depend on the scale of inputs and weights. */
  readonly units: Float64Array;
}

export interface Regularizer {
  readonly strength: number;
  /** A large exponent leaves shares between 0 and 1 alone; a small one drives them to either end. */
  readonly exponent: number;
}

/** Shares begin where the weights are. @param productsOf H of the inputs of a row. */
export function openSoftRows(rows: readonly WeightRow[], productsOf: (row: number) => SquareMatrix): SoftRows {
  const columns = rows[0]?.wanted.length ?? 0;
  const count = rows.length * columns;
  const make = (): Float64Array => new Float64Array(count);
  const soft = { columns, lower: new Int32Array(count), steps: make(), variables: make(), shares: make(), differences: make() };
  const units = new Float64Array(rows.length);
  for (const [row, one] of rows.entries()) units[row] = openRow(soft, row * columns, one, productsOf(row));
  return { ...soft, units };
}

/** Returns the unit of the row. */
function openRow(soft: Omit<SoftRows, 'units'>, start: number, { wanted, grid }: WeightRow, { size, data }: SquareMatrix): number {
  let [squares, free] = [0, 0];
  for (let i = 0; i < size; i++) {
    const scale = grid.scales[i] as number;
    const exact = (wanted[i] as number) / scale + (grid.zeroPoints[i] as number);
    const below = Math.floor(exact);
    const integer = Math.max(grid.low, Math.min(grid.high, below));
    soft.lower[start + i] = integer;
    if (below < grid.low || below >= grid.high) {
      soft.differences[start + i] = (integer - exact) * scale;
      continue;
    }
    soft.steps[start + i] = scale;
    soft.shares[start + i] = exact - below;
    soft.variables[start + i] = -Math.log((HIGHEST - LOWEST) / (exact - below - LOWEST) - 1);
    squares += scale * scale * (data[i * size + i] as number);
    free++;
  }
  return squares > 0 ? squares / free : 1;
}

/** Moves the shares to the variables as they are now. */
export function moveShares({ steps, variables, shares, differences }: SoftRows): void {
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i] as number;
    if (step === 0) continue;
    const share = Math.max(0, Math.min(1, sigmoid(variables[i] as number) * (HIGHEST - LOWEST) + LOWEST));
    differences[i] = (differences[i] as number) + (share - (shares[i] as number)) * step;
    shares[i] = share;
  }
}

/**
 * Per row squared error in units, and strength · Σ (1 − |2·share − 1|^exponent) over the weights that have a choice; summed.
 * @param pull H·(q − w) of each row.
 */
export function lossOf(soft: SoftRows, pull: ArrayLike<number>, { strength, exponent }: Regularizer): number {
  let loss = 0;
  for (const [row, unit] of soft.units.entries())
    for (let i = row * soft.columns; i < (row + 1) * soft.columns; i++) {
      loss += ((soft.differences[i] as number) * (pull[i] as number)) / unit;
      if (soft.steps[i] !== 0) loss += strength * (1 - Math.abs(2 * (soft.shares[i] as number) - 1) ** exponent);
    }
  return loss;
}

/** Writes the derivative of the loss by each variable; returns the number of shares that are neither 0 nor 1. */
export function differentiate(soft: SoftRows, pull: ArrayLike<number>, regularizer: Regularizer, gradient: Float64Array): number {
  const { columns, steps, variables, shares } = soft;
  const { strength, exponent } = regularizer;
  let open = 0;
  for (const [row, unit] of soft.units.entries())
    for (let i = row * columns; i < (row + 1) * columns; i++) {
      const share = shares[i] as number;
      gradient[i] = 0;
      if (steps[i] === 0 || share <= 0 || share >= 1) continue;
      open++;
      const byError = (2 * (steps[i] as number) * (pull[i] as number)) / unit;
      const side = 2 * share - 1;
      const byOpenness = strength === 0 ? 0 : 2 * strength * exponent * Math.sign(side) * Math.abs(side) ** (exponent - 1);
      const s = sigmoid(variables[i] as number);
      gradient[i] = (byError - byOpenness) * (HIGHEST - LOWEST) * s * (1 - s);
    }
  return open;
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
