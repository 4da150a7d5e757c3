/** Adaptive rounding against finite differences, and against all roundings of small rows. */
import { openProducts } from '../../../../../src/quant/recovery/rounding/products-session.js';
import { roundAdaptively } from '../../../../../src/quant/recovery/rounding/round-adaptively.js';
import type { RowGrid } from '../../../../../src/quant/recovery/rounding/row-grid.js';
import { differentiate, lossOf, moveShares, openSoftRows, type WeightRow } from '../../../../../src/quant/recovery/rounding/soft-rows.js';
import type { SquareMatrix } from '../../../../../src/quant/recovery/rounding/triangular-factor.js';
import { seededRandom } from '../../../../../src/stage/random.js';

const ITERATIONS = 500;
const SCALE = 1 / 14;

/** Products of random inputs that depend on each other, both triangles. */
function productsOf(size: number, samples: number, next: () => number): SquareMatrix {
  const data = new Float64Array(size * size);
  for (let sample = 0; sample < samples; sample++) {
    const common = next() - 0.5;
    const inputs = Array.from({ length: size }, () => next() - 0.5 + common);
    for (const [i, a] of inputs.entries()) for (const [j, b] of inputs.entries()) data[i * size + j] = (data[i * size + j] ?? 0) + a * b;
  }
  return { size, data };
}

const gridOf = (size: number): RowGrid => ({
  scales: Array<number>(size).fill(SCALE),
  zeroPoints: Array<number>(size).fill(0),
  low: -8,
  high: 7,
});

const rowOf = (wanted: readonly number[], grid = gridOf(wanted.length)): WeightRow => ({ wanted, grid });

/** H·x of each row, plainly in double precision. */
function multiplyPlainly(x: Float64Array, of: (row: number) => SquareMatrix, columns: number): Float64Array {
  return x.map((_, index) => {
    const row = Math.floor(index / columns);
    const { data } = of(row);
    let sum = 0;
    for (let k = 0; k < columns; k++) sum += (data[(index % columns) * columns + k] ?? 0) * (x[row * columns + k] ?? 0);
    return sum;
  });
}

/** (w − q)ᵀ·H·(w − q), plainly. */
function errorOf(weights: readonly number[], integers: ArrayLike<number>, { size, data }: SquareMatrix): number {
  const e = weights.map((w, i) => w - (integers[i] ?? 0) * SCALE);
  return e.reduce((sum, a, i) => sum + e.reduce((inner, b, j) => inner + a * b * (data[i * size + j] ?? 0), 0), 0);
}

async function round(rows: readonly WeightRow[], products: SquareMatrix): Promise<readonly Int32Array[]> {
  const session = await openProducts([products], rows.length);
  const rounded = await roundAdaptively(rows, () => products, session.multiply, ITERATIONS);
  await session.close();
  return rounded;
}

describe('the loss of soft rounding', () => {
  it.each([
    [0, 20],
    [0.1, 20],
    [0.1, 3.7],
    [2, 2],
  ])('with strength %p and exponent %p has the derivatives of finite differences', (strength, exponent) => {
    const random = seededRandom('test', `gradient ${strength} ${exponent}`);
    const size = 9;
    const matrices = [productsOf(size, 20, random), productsOf(size, 20, random)];
    const of = (row: number): SquareMatrix => matrices[row] ?? { size, data: new Float64Array(0) };
    // The last weights are beyond the limits of the integers, and have no choice.
    const rows = matrices.map(() => rowOf([...Array.from({ length: size - 2 }, () => random() - 0.5), 3, -3]));
    const soft = openSoftRows(rows, of);
    const choices = soft.steps.reduce((count, step) => count + (step === 0 ? 0 : 1), 0);
    expect(choices).toBe(2 * (size - 2));
    for (const [i, step] of soft.steps.entries()) if (step !== 0) soft.variables[i] = 4 * (random() - 0.5);
    const regularizer = { strength, exponent };
    const lossNow = (): number => {
      moveShares(soft);
      return lossOf(soft, multiplyPlainly(soft.differences, of, size), regularizer);
    };
    lossNow();
    const gradient = new Float64Array(2 * size);
    expect(differentiate(soft, multiplyPlainly(soft.differences, of, size), regularizer, gradient)).toBe(choices);
    const H = 1e-5;
    for (const [i, at] of Float64Array.from(soft.variables).entries()) {
      soft.variables[i] = at + H;
      const above = lossNow();
      soft.variables[i] = at - H;
      const slope = (above - lossNow()) / (2 * H);
      soft.variables[i] = at;
      // Central differences err by H² times a third derivative, and by 1e-16 · loss / H: at most 1e-9 of the loss, which is at most some 1,000.
      expect(Math.abs(slope - (gradient[i] ?? 0))).toBeLessThan(1e-6);
    }
  });

  it('has no squared error at the weights, but for those beyond the limits of the integers', () => {
    const products = productsOf(5, 20, seededRandom('test', 'start'));
    const lossAt = (weights: readonly number[]): number => {
      const soft = openSoftRows([rowOf(weights)], () => products);
      const [unit] = soft.units;
      return (
        lossOf(
          soft,
          multiplyPlainly(soft.differences, () => products, 5),
          { strength: 0, exponent: 2 },
        ) * (unit ?? 0)
      );
    };
    expect(lossAt([0.31, -0.27, 0.04, 0.2, -0.49])).toBe(0);
    expect(lossAt([0.31, -0.27, 0.04, 0.2, 1])).toBeCloseTo(0.5 ** 2 * (products.data[24] ?? 0), 12);
  });
});

describe('adaptive rounding', () => {
  it.each([1, 2, 5, 10])('of rows of %i weights has at most 1.05 times the error of the best of all roundings on average', async size => {
    const random = seededRandom('test', `adaptive ${size}`);
    let [own, best, nearest] = [0, 0, 0];
    for (let trial = 0; trial < 5; trial++) {
      const products = productsOf(size, 2 * size, random);
      const rows = Array.from({ length: 8 }, () => Array.from({ length: size }, () => random() - 0.5));
      const rounded = await round(
        rows.map(weights => rowOf(weights)),
        products,
      );
      for (const [row, weights] of rows.entries()) {
        const integers = rounded[row] ?? [];
        for (const [i, w] of weights.entries()) expect(Math.abs((integers[i] ?? 0) - w / SCALE)).toBeLessThan(1);
        const errors = Array.from({ length: 2 ** size }, (_, choice) =>
          errorOf(
            weights,
            weights.map((w, i) => Math.floor(w / SCALE) + ((choice >> i) & 1)),
            products,
          ),
        );
        own += errorOf(weights, integers, products);
        best += Math.min(...errors);
        nearest += errorOf(
          weights,
          weights.map(w => Math.round(w / SCALE)),
          products,
        );
      }
    }
    expect(own).toBeLessThanOrEqual(1.05 * best);
    if (size > 2) expect(own).toBeLessThan(0.7 * nearest);
  });

  it('is rounding to nearest where inputs are independent', async () => {
    const independent = { size: 3, data: Float64Array.from([4, 0, 0, 0, 1, 0, 0, 0, 9]) };
    const weights = [3.2, -2.7, 0.9].map(units => units * SCALE);
    expect((await round([rowOf(weights)], independent)).map(row => [...row])).toEqual([[3, -3, 1]]);
  });

  it('keeps within the limits of the type, with a zero point and a scale per weight', async () => {
    const products = { size: 2, data: Float64Array.from([1, 0, 0, 1]) };
    const grid = { scales: [0.1, 0.25], zeroPoints: [128, 128], low: 0, high: 255 };
    const rounded = await round([rowOf([10, -0.55], grid), rowOf([100, -100], grid)], products);
    expect(rounded.map(row => [...row])).toEqual([
      [228, 126],
      [255, 0],
    ]);
  });
});
