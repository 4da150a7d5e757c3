/** Sequential rounding against its plain definition: after each rounded weight, least squares is solved anew for all that are open. */
import { roundHalfEven } from '../../../../../src/base/round-half-even.js';
import { roundSequentially } from '../../../../../src/quant/recovery/rounding/round-sequentially.js';
import type { SquareMatrix } from '../../../../../src/quant/recovery/rounding/square-matrix.js';
import { fitTarget, invertFactor } from '../../../../../src/quant/recovery/rounding/triangular-factor.js';
import { seededRandom } from '../../../../../src/stage/random.js';

const DAMPING = 0.01;

/** Products of random inputs that depend on each other. */
function productsOf(size: number, samples: number, next: () => number): SquareMatrix {
  const data = new Float64Array(size * size);
  for (let sample = 0; sample < samples; sample++) {
    const common = next() - 0.5;
    const inputs = Array.from({ length: size }, () => next() - 0.5 + 2 * common);
    for (const [i, a] of inputs.entries()) for (const [j, b] of inputs.entries()) data[i * size + j] = (data[i * size + j] ?? 0) + a * b;
  }
  return { size, data };
}

function damped({ size, data }: SquareMatrix): number[][] {
  const rows = Array.from({ length: size }, (_, i) => Array.from(data.subarray(i * size, (i + 1) * size)));
  const mean = rows.reduce((sum, row, i) => sum + (row[i] ?? 0), 0) / size;
  return rows.map((row, i) => row.map((x, j) => (i === j ? x + DAMPING * mean : x)));
}

/** Solves a·x = b by Gaussian elimination with pivots. */
function solve(a: readonly (readonly number[])[], b: readonly number[]): number[] {
  const rows = a.map((row, i) => [...row, b[i] ?? 0]);
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let p = 0; p < rows.length; p++) {
    let best = p;
    for (let i = p; i < rows.length; i++) if (Math.abs(at(i, p)) > Math.abs(at(best, p))) best = i;
    [rows[p], rows[best]] = [rows[best] ?? [], rows[p] ?? []];
    for (let i = 0; i < rows.length; i++) {
      if (i === p) continue;
      const factor = at(i, p) / at(p, p);
      rows[i] = (rows[i] ?? []).map((x, j) => x - factor * at(p, j));
    }
  }
  return rows.map((_, i) => at(i, rows.length) / at(i, i));
}

/** The definition: the open weights minimize the error, given those that are rounded. */
function roundPlainly(weights: readonly number[], scale: number, h: readonly (readonly number[])[], low: number, high: number): number[] {
  const open = [...weights];
  const integers: number[] = [];
  for (let i = 0; i < weights.length; i++) {
    const integer = Math.max(low, Math.min(high, roundHalfEven((open[i] ?? 0) / scale)));
    integers.push(integer);
    const rest = weights.map((_, j) => j).slice(i + 1);
    const fixed = integers.map((q, j) => (weights[j] ?? 0) - q * scale);
    // d = w − x of the open weights: H_oo·d = −H_of·(w − q of the rounded ones).
    const differences = solve(
      rest.map(j => rest.map(k => h[j]?.[k] ?? 0)),
      rest.map(j => -fixed.reduce((sum, e, k) => sum + (h[j]?.[k] ?? 0) * e, 0)),
    );
    for (const [k, j] of rest.entries()) open[j] = (weights[j] ?? 0) - (differences[k] ?? 0);
  }
  return integers;
}

const errorOf = (weights: readonly number[], integers: ArrayLike<number>, scale: number, h: readonly (readonly number[])[]): number => {
  const e = weights.map((w, i) => w - (integers[i] ?? 0) * scale);
  return e.reduce((sum, a, i) => sum + e.reduce((inner, b, j) => inner + a * b * (h[i]?.[j] ?? 0), 0), 0);
};

const grid = (size: number, scale: number, low = -8, high = 7) => ({
  scales: Array<number>(size).fill(scale),
  zeroPoints: Array<number>(size).fill(0),
  low,
  high,
});

describe('sequential rounding', () => {
  it.each([
    1, 2, 3, 7, 24,
  ])('of %i weights gives the integers of the definition, and no larger error than rounding to nearest on average', size => {
    const random = seededRandom('test', `sequential ${size}`);
    let [own, nearest] = [0, 0];
    for (let round = 0; round < 40; round++) {
      const products = productsOf(size, 2 * size, random);
      const weights = Array.from({ length: size }, () => random() - 0.5);
      const scale = 1 / 14;
      const h = damped(products);
      const integers = roundSequentially(weights, grid(size, scale), invertFactor(products, DAMPING));
      expect([...integers]).toEqual(roundPlainly(weights, scale, h, -8, 7));
      own += errorOf(weights, integers, scale, h);
      nearest += errorOf(
        weights,
        weights.map(w => Math.max(-8, Math.min(7, roundHalfEven(w / scale)))),
        scale,
        h,
      );
    }
    expect(own).toBeLessThanOrEqual(nearest * (1 + 1e-12));
    if (size > 2) expect(own).toBeLessThan(0.8 * nearest);
  });

  it('is rounding to nearest where no input is ever other than 0, and where inputs are independent', () => {
    const weights = [0.3, -0.26, 0.11];
    const nothing = { size: 3, data: new Float64Array(9) };
    const independent = { size: 3, data: Float64Array.from([4, 0, 0, 0, 1, 0, 0, 0, 9]) };
    for (const products of [nothing, independent])
      expect([...roundSequentially(weights, grid(3, 0.1), invertFactor(products, DAMPING))]).toEqual([3, -3, 1]);
  });

  it('keeps within the limits of the type, with a zero point and a scale per weight', () => {
    const products = { size: 2, data: Float64Array.from([1, 0, 0, 1]) };
    const factor = invertFactor(products, DAMPING);
    const integers = roundSequentially([10, -0.5], { scales: [0.1, 0.25], zeroPoints: [128, 128], low: 0, high: 255 }, factor);
    expect([...integers]).toEqual([228, 126]);
    expect([...roundSequentially([100, -100], { scales: [0.1, 0.25], zeroPoints: [128, 128], low: 0, high: 255 }, factor)]).toEqual([
      255, 0,
    ]);
  });
});

it('the factor inverts the damped products, and refuses what is not finite', () => {
  const random = seededRandom('test', 'factor');
  const products = productsOf(6, 20, random);
  const { data: u } = invertFactor(products, DAMPING);
  const h = damped(products);
  for (let i = 0; i < 6; i++)
    for (let j = 0; j < 6; j++) {
      // (UᵀU · H)[i][j] is 1 on the diagonal, else 0. 1e-10: the condition number is below 1e4, doubles have 16 digits.
      let sum = 0;
      for (let k = 0; k < 6; k++)
        for (let l = 0; l <= Math.min(i, k); l++) sum += (u[l * 6 + i] ?? 0) * (u[l * 6 + k] ?? 0) * (h[k]?.[j] ?? 0);
      expect(Math.abs(sum - (i === j ? 1 : 0))).toBeLessThan(1e-10);
    }
  expect(() => invertFactor({ size: 1, data: Float64Array.from([Number.NaN]) }, DAMPING)).toThrow('not finite');
});

it('weights are fitted to their target by least squares, damped towards what they are', () => {
  const random = seededRandom('test', 'target');
  for (let round = 0; round < 20; round++) {
    const products = productsOf(6, 20, random);
    const h = damped(products);
    const lambda = (h[0]?.[0] ?? 0) - (products.data[0] ?? 0);
    const weights = Array.from({ length: 6 }, () => random() - 0.5);
    const target = Array.from({ length: 6 }, () => 10 * (random() - 0.5));
    const change = fitTarget(weights, target, products, invertFactor(products, DAMPING));
    // (H + λI)·(w + change) = target + λ·w, by elimination. 1e-8: as above, times the size of the solution.
    const expected = solve(
      h,
      target.map((t, i) => t + lambda * (weights[i] ?? 0)),
    );
    for (const [i, x] of expected.entries()) expect(Math.abs((weights[i] ?? 0) + (change[i] ?? 0) - x)).toBeLessThan(1e-8);
  }
});
