/** Adaptive rounding against finite differences, against all roundings of small rows, and its kernel against the plain definition. */
import { getDefined } from '../../../../../src/base/invariant.js';
import { type DampedProducts, dampProducts } from '../../../../../src/quant/recovery/rounding/damped-products.js';
import { fitRows } from '../../../../../src/quant/recovery/rounding/fit-rows.js';
import { type InputPart, openProducts } from '../../../../../src/quant/recovery/rounding/products-session.js';
import { roundAdaptively } from '../../../../../src/quant/recovery/rounding/round-adaptively.js';
import type { RowGrid } from '../../../../../src/quant/recovery/rounding/row-grid.js';
import { findPartners, settlePlainly } from '../../../../../src/quant/recovery/rounding/settle-choices.js';
import { openSettleKernel } from '../../../../../src/quant/recovery/rounding/settle-kernel.js';
import { cutInputs, settleRows } from '../../../../../src/quant/recovery/rounding/settle-rows.js';
import { openSoftKernel } from '../../../../../src/quant/recovery/rounding/soft-kernel.js';
import {
  SOFT_ARRAYS,
  type SoftWeights,
  shareOf,
  slopeAt,
  startAt,
  stepPlainly,
} from '../../../../../src/quant/recovery/rounding/soft-weights.js';
import type { SquareMatrix } from '../../../../../src/quant/recovery/rounding/square-matrix.js';
import { seededRandom } from '../../../../../src/stage/random.js';

const ITERATIONS = 100;
const SCALE = 1 / 14;

type Products = SquareMatrix & { readonly kind: 'products' };

/** Products of random inputs that depend on each other, both triangles. */
function productsOf(size: number, samples: number, next: () => number): Products {
  const data = new Float64Array(size * size);
  for (let sample = 0; sample < samples; sample++) {
    const common = next() - 0.5;
    const inputs = Array.from({ length: size }, () => next() - 0.5 + common);
    for (const [i, a] of inputs.entries()) for (const [j, b] of inputs.entries()) data[i * size + j] = (data[i * size + j] ?? 0) + a * b;
  }
  return { kind: 'products', size, data };
}

const gridOf = (size: number): RowGrid => ({
  scales: Array<number>(size).fill(SCALE),
  zeroPoints: Array<number>(size).fill(0),
  low: -8,
  high: 7,
});

/** (w − q)ᵀ·H·(w − q), plainly. */
function errorOf(weights: readonly number[], integers: ArrayLike<number>, { size, data }: SquareMatrix): number {
  const e = weights.map((w, i) => w - (integers[i] ?? 0) * SCALE);
  return e.reduce((sum, a, i) => sum + e.reduce((inner, b, j) => inner + a * b * (data[i * size + j] ?? 0), 0), 0);
}

interface Row {
  readonly weights: readonly number[];
  readonly grid?: RowGrid;
}

async function round(rows: readonly Row[], products: DampedProducts): Promise<readonly (readonly number[])[]> {
  const layer = {
    products: [products],
    rows: rows.map(({ weights, grid = gridOf(weights.length) }) => ({ weights: Float32Array.from(weights), grid, rest: undefined })),
  };
  return (await roundAdaptively(layer, ITERATIONS)).map(row => [...row]);
}

interface Settled {
  readonly changes: Float64Array;
  readonly pull: Float64Array;
  readonly smallestGain: number;
  readonly passes: number;
}

const undamped = (sums: Products): DampedProducts => ({ ...dampProducts(sums, 1), damping: 0 });

/** H of a part of the inputs, plainly. */
const partOf =
  ({ size, data }: SquareMatrix) =>
  async ({ start, size: count }: InputPart): Promise<Float32Array> =>
    Float32Array.from({ length: count * count }, (_, at) => data[(start + Math.floor(at / count)) * size + start + (at % count)] ?? 0);

/** Soft weights at random shares of a common step. */
function softOf(count: number, next: () => number): SoftWeights {
  const arrays = SOFT_ARRAYS.map(name => [name, new Float32Array(count)] as const);
  const soft = Object.fromEntries(arrays) as Readonly<Record<(typeof SOFT_ARRAYS)[number], Float32Array>>;
  for (let i = 0; i < count; i++) {
    // Every seventh has no choice.
    soft.step[i] = i % 7 === 3 ? 0 : SCALE * (1 + next());
    soft.base[i] = -(soft.step[i] ?? 0) * next();
    soft.factor[i] = (soft.step[i] ?? 0) * (1 + next());
    soft.rest[i] = next() - 0.5;
    soft.pull[i] = 4 * (next() - 0.5);
    startAt(soft, i, i % 5 === 0 ? Math.round(next()) : next());
  }
  return soft;
}

describe('the descent', () => {
  it.each([
    [0, 20],
    [0.1, 20],
    [0.1, 3],
    [2, 2],
  ])('with strength %p and exponent %p follows the finite differences of the loss', (strength, exponent) => {
    const random = seededRandom('test', `gradient ${strength} ${exponent}`);
    const size = 9;
    const { data } = productsOf(size, 20, random);
    const soft = softOf(size, random);
    const unit = 0.37;
    for (let i = 0; i < size; i++) soft.factor[i] = (2 * (soft.step[i] ?? 0)) / unit;
    const shares = Array.from(soft.sigmoid, shareOf);
    const lossAt = (of: readonly number[]): number => {
      const d = of.map((share, i) => (soft.base[i] ?? 0) + share * (soft.step[i] ?? 0));
      const form = d.reduce((sum, a, i) => sum + d.reduce((inner, b, j) => inner + a * b * (data[i * size + j] ?? 0), 0), 0);
      const linear = d.reduce((sum, a, i) => sum + 2 * a * (soft.rest[i] ?? 0), 0);
      return (form - linear) / unit + strength * of.reduce((sum, share) => sum + 1 - Math.abs(2 * share - 1) ** exponent, 0);
    };
    for (let i = 0; i < size; i++) {
      soft.pull[i] = shares.reduce(
        (sum, share, j) => sum + (data[i * size + j] ?? 0) * ((soft.base[j] ?? 0) + share * (soft.step[j] ?? 0)),
        0,
      );
    }
    const H = 1e-5;
    const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
    for (let i = 0; i < size; i++) {
      const at = (shift: number): number => shareOf(sigmoid((soft.variable[i] ?? 0) + shift));
      if (shares[i] === 0 || shares[i] === 1) {
        expect(slopeAt(soft, i, { strength, exponent, number: 1 })).toBe(0);
        continue;
      }
      const slope = (lossAt(shares.with(i, at(H))) - lossAt(shares.with(i, at(-H)))) / (2 * H);
      // Stored values are float32: 6e-8 of a loss of some 10, and of the shares.
      expect(Math.abs(slope - slopeAt(soft, i, { strength, exponent, number: 1 }))).toBeLessThan(2e-5 * Math.max(1, Math.abs(slope)));
    }
  });

  it.each([1, 2, 7, 1000])('of %i weights in the kernel has the bits of the plain definition', count => {
    const random = seededRandom('test', `kernel ${count}`);
    const [own, kernel] = [softOf(count, random), openSoftKernel()];
    const soft = kernel.take(count);
    for (const name of SOFT_ARRAYS) soft[name].set(own[name]);
    for (let number = 1; number <= 30; number++) {
      for (const target of [own.pull, soft.pull]) for (let i = 0; i < count; i++) target[i] = Math.fround(3 * Math.sin(number * i + i));
      const step = { strength: number < 6 ? 0 : 0.05, exponent: Math.max(2, 21 - number), number };
      stepPlainly(own, count, step);
      kernel.descend(count, step);
    }
    for (const name of SOFT_ARRAYS) expect([name, Buffer.from(soft[name].slice().buffer)]).toEqual([name, Buffer.from(own[name].buffer)]);
  });
});

it('the fit comes as close to the target as least squares with damping', async () => {
  const random = seededRandom('test', 'fit');
  const size = 6;
  const sums = productsOf(size, 20, random);
  const products = dampProducts(sums, 0.05);
  const { data } = sums;
  const { damping } = products;
  const weights = Float32Array.from({ length: size }, () => random() - 0.5);
  const change = Array.from({ length: size }, () => random() - 0.5);
  // The target for which `change` is the solution.
  const targets = Float32Array.from({ length: size }, (_, i) =>
    change.reduce((sum, c, j) => sum + (data[i * size + j] ?? 0) * (c + (weights[j] ?? 0)), damping * (change[i] ?? 0)),
  );
  const session = await openProducts([products.sums]);
  const { wanted, rest } = await fitRows({ weights, targets, dampings: [damping], columns: size }, session.multiplierOf(0, [damping]));
  await session.close();
  // Conjugate gradients end after as many steps as there are inputs.
  for (let i = 0; i < size; i++) expect((wanted[i] ?? 0) - (weights[i] ?? 0)).toBeCloseTo(change[i] ?? 0, 4);
  expect(Math.max(...rest.map(Math.abs))).toBeLessThan(1e-4);
});

it('partners of an input are those that it depends on most', () => {
  const random = seededRandom('test', 'partners');
  const size = 50;
  const data = Float32Array.from(productsOf(size, 30, random).data);
  const { each, indices } = findPartners({ size, products: data });
  expect(each).toBe(32);
  for (let i = 0; i < size; i++) {
    const worth = (j: number): number => (data[i * size + j] ?? 0) ** 2 / (data[j * size + j] ?? 0);
    const others = Array.from({ length: size }, (_, j) => j).filter(j => j !== i);
    const best = others.sort((a, b) => worth(b) - worth(a)).slice(0, each);
    expect([...indices.subarray(i * each, (i + 1) * each)]).toEqual(best.sort((a, b) => a - b));
  }
});

/** Choices of random differences within a step, and their pull by H + λI. */
function choicesOf({ size, data }: SquareMatrix, damping: number, next: () => number) {
  const differences = Array.from({ length: size }, () => SCALE * (next() - 0.5));
  // Every seventh has no choice.
  const changes = Float64Array.from(differences, (difference, i) => (i % 7 === 3 ? 0 : -Math.sign(difference) * SCALE));
  const pullAt = (of: readonly number[], i: number): number =>
    of.reduce((sum, difference, j) => sum + (data[i * size + j] ?? 0) * difference, damping * (of[i] ?? 0));
  return { differences, changes, pull: Float64Array.from(differences, (_, i) => pullAt(differences, i)), pullAt };
}

describe('the changes in the end', () => {
  it.each([1, 2, 33, 50, 61])('of rows of %i weights in the kernel have the bits of the plain definition', async size => {
    const random = seededRandom('test', `settle ${size}`);
    const kernel = openSettleKernel();
    const passes = [1000, 2, 1];
    for (const trial of passes.keys()) {
      const sums = productsOf(size, 20, random);
      const products = dampProducts(sums, 0.01 * trial);
      const [stretch, ...others] = await cutInputs(products, partOf(sums));
      const inputs = getDefined(stretch, 'stretch').inputs;
      expect(others).toEqual([]);
      kernel.load(inputs);
      const { changes, pull } = choicesOf(sums, products.damping, random);
      const [own, plain] = [0, 1].map(() => ({
        changes: changes.slice(),
        pull: pull.slice(),
        smallestGain: 1e-9,
        passes: passes[trial] ?? 1,
      })) as [Settled, Settled];
      kernel.settle(own);
      settlePlainly(inputs, plain);
      expect(Buffer.from(own.changes.buffer)).toEqual(Buffer.from(plain.changes.buffer));
      expect(Buffer.from(own.pull.buffer)).toEqual(Buffer.from(plain.pull.buffer));
      if (size > 2) expect(own.changes).not.toEqual(changes);
    }
  });

  it('of more inputs than a kernel takes halve the error, and the pull of all inputs follows them', async () => {
    const random = seededRandom('test', 'stretches');
    const size = 1200;
    const sums = productsOf(size, 40, random);
    const products = dampProducts(sums, 0.01);
    const session = await openProducts([products.sums]);
    const stretches = await cutInputs(products, part => session.productsOf(0, part));
    expect(stretches.map(({ start, inputs }) => [start, inputs.size])).toEqual([
      [0, 400],
      [400, 400],
      [800, 400],
    ]);
    const starts = [0, 1].map(() => choicesOf(sums, products.damping, random));
    const rows = starts.map(({ changes, pull }) => ({ changes: changes.slice(), pull: pull.slice(), smallestGain: 1e-6 }));
    await settleRows({ stretches, rows, kernel: openSettleKernel(), multiplyPart: session.partMultiplierOf(0) });
    await session.close();
    for (const [row, { differences, changes, pullAt }] of starts.entries()) {
      const own = rows[row] as Omit<Settled, 'passes'>;
      const settled = differences.map((difference, i) => difference + (own.changes[i] === changes[i] ? 0 : (changes[i] ?? 0)));
      const errorOfAll = (of: readonly number[]): number => of.reduce((sum, difference, i) => sum + difference * pullAt(of, i), 0);
      expect(errorOfAll(settled)).toBeLessThan(0.5 * errorOfAll(differences));
      // Products outside of a stretch are in float32: 1e-7 of sums of 1,200 products of some 0.5, a hundred times.
      const deviations = settled.map((_, i) => Math.abs((own.pull[i] ?? 0) - pullAt(settled, i)));
      expect(Math.max(...deviations)).toBeLessThan(1e-4);
      expect(Math.max(...own.pull.map(Math.abs))).toBeGreaterThan(1e-2);
    }
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
        rows.map(weights => ({ weights })),
        undamped(products),
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
    const independent = undamped({ kind: 'products', size: 3, data: Float64Array.from([4, 0, 0, 0, 1, 0, 0, 0, 9]) });
    const weights = [3.2, -2.7, 0.9].map(units => units * SCALE);
    expect(await round([{ weights }], independent)).toEqual([[3, -3, 1]]);
  });

  it('keeps within the limits of the type, with a zero point and a scale per weight', async () => {
    const products = undamped({ kind: 'products', size: 2, data: Float64Array.from([1, 0, 0, 1]) });
    const grid = { scales: [0.1, 0.25], zeroPoints: [128, 128], low: 0, high: 255 };
    const rows = [
      { weights: [10, -0.55], grid },
      { weights: [100, -100], grid },
    ];
    expect(await round(rows, products)).toEqual([
      [228, 126],
      [255, 0],
    ]);
  });
});

it('few inputs in place of their products give the same products, and roundings as good', async () => {
  const random = seededRandom('test', 'few inputs');
  const [size, positions] = [700, 60];
  const data = Float32Array.from({ length: positions * size }, () => random() - 0.3);
  const sums = { kind: 'products' as const, size, data: new Float32Array(size * size) };
  for (let p = 0; p < positions; p++)
    for (let i = 0; i < size; i++)
      for (let j = 0; j < size; j++)
        sums.data[i * size + j] = (sums.data[i * size + j] ?? 0) + (data[p * size + i] ?? 0) * (data[p * size + j] ?? 0);
  const [own, few] = [dampProducts(sums, 0.01), dampProducts({ kind: 'inputs', size, positions, data }, 0.01)];
  // Sums of 60 products below 0.5, in float32.
  const isClose = (a: ArrayLike<number>, b: ArrayLike<number>, within: number): void => {
    expect(a.length).toBe(b.length);
    expect(Math.max(...Array.from(a, (value, i) => Math.abs(value - (b[i] ?? 0))))).toBeLessThan(within);
  };
  isClose(own.diagonal, few.diagonal, 1e-4);
  expect(Math.abs(own.damping - few.damping)).toBeLessThan(1e-5);
  const [byProducts, byInputs] = [await openProducts([own.sums]), await openProducts([few.sums])];
  const rows = Float32Array.from({ length: 2 * size }, () => random() - 0.5);
  isClose(await byProducts.multiplierOf(0, [own.damping])(rows), await byInputs.multiplierOf(0, [own.damping])(rows), 1e-2);
  const part = { start: 350, size: 350 };
  isClose(await byProducts.productsOf(0, part), await byInputs.productsOf(0, part), 1e-4);
  const short = rows.subarray(0, 2 * part.size);
  isClose(await byProducts.partMultiplierOf(0)(short, part), await byInputs.partMultiplierOf(0)(short, part), 1e-2);
  for (const session of [byProducts, byInputs]) await session.close();

  const weights = Array.from({ length: 3 }, () => Array.from({ length: size }, () => random() - 0.5));
  const errorBy = async (products: DampedProducts): Promise<number> =>
    (
      await round(
        weights.map(row => ({ weights: row })),
        products,
      )
    ).reduce((sum, integers, row) => sum + errorOf(weights[row] ?? [], integers, sums), 0);
  const [plain, other] = [await errorBy(own), await errorBy(few)];
  // The last bits of products decide close choices.
  expect(Math.abs(other / plain - 1)).toBeLessThan(0.2);
});

it('groups and blocks are rounded as they are alone', async () => {
  const random = seededRandom('test', 'blocks');
  const rowsOf = (size: number, count: number) =>
    Array.from({ length: count }, () => ({
      weights: Float32Array.from({ length: size }, () => random() - 0.5),
      grid: gridOf(size),
      rest: undefined,
    }));
  const groups = [0.01, 0.5].map(damping => ({ products: dampProducts(productsOf(7, 20, random), damping), rows: rowsOf(7, 6) }));
  const layer = { products: groups.map(({ products }) => products), rows: groups.flatMap(({ rows }) => rows) };
  const together = await roundAdaptively(layer, ITERATIONS);
  const alone: Int32Array[] = [];
  for (const { products, rows } of groups) alone.push(...(await roundAdaptively({ products: [products], rows }, ITERATIONS)));
  expect(together).toEqual(alone);
});
