/**
 * Adaptive rounding (AdaRound): whether each weight is rounded up or down follows from the squared error of the outputs.
 * Source: Nagel et al., 2020 (arXiv 2004.10568), with the products of all inputs in place of batches.
 */
import type { DampedProducts } from './damped-products.js';
import { type Multiply, type MultiplyPart, openProducts, type ProductsSession } from './products-session.js';
import { cutRows } from './row-blocks.js';
import type { RowGrid } from './row-grid.js';
import { openSettleHelper, type SettleHelper } from './settle-helper.js';
import { openSettleKernel, type SettleKernel } from './settle-kernel.js';
import { cutInputs, type InputStretches, settleRows } from './settle-rows.js';
import { MOST_WEIGHTS, openSoftKernel, type SoftKernel } from './soft-kernel.js';
import { type SoftStep, type SoftWeights, shareOf, startAt } from './soft-weights.js';

/** Without regularizer at first, then its exponent falls along half a cosine. */
const [WARM_UP, FIRST_EXPONENT, LAST_EXPONENT, STRENGTH] = [0.2, 20, 2, 0.01];

/** In units of a row, which has an error of a twelfth of a unit per weight: products are in float32, and many small gains take long. */
const SMALLEST_GAIN = 1e-4;

/** Of a layer that is worth a second thread. */
const MANY_WEIGHTS = 1 << 17;

export interface AdaptiveRow {
  readonly weights: Float32Array;
  readonly grid: RowGrid;
  /** What the weights miss: Σ x·y − H·weights, less damping; undefined: nothing. */
  readonly rest: Float32Array | undefined;
}

export interface AdaptiveLayer {
  /** Of all groups, one after the other. */
  readonly rows: readonly AdaptiveRow[];
  /** Per group, of one size. */
  readonly products: readonly DampedProducts[];
}

/**
 * Returns the integers of each row: each the one below or above its weight.
 * They lower the squared error of the outputs on the inputs behind H. In the end neither one other choice, nor two of inputs that depend on each other,
 * lower it further.
 * @throws RuntimeError `model-run`.
 */
export async function roundAdaptively({ rows, products }: AdaptiveLayer, iterations: number): Promise<readonly Int32Array[]> {
  const columns = products[0]?.size ?? 0;
  const session = await openProducts(products.map(({ sums }) => sums));
  const kernels = { soft: openSoftKernel(), settle: openSettleKernel() };
  let helper: SettleHelper | undefined;
  const results: (readonly Int32Array[])[] = [];
  try {
    if (rows.length * columns >= MANY_WEIGHTS) helper = openSettleHelper();
    const stretchesOf = openOnce(products, session);
    for (const { first, groups, start, rows: count } of cutRows({ groups: products.length, rows: rows.length, columns }, MOST_WEIGHTS)) {
      const block = { first, products: products.slice(first, first + groups), rows: rows.slice(start, start + count) };
      const multiply = session.multiplierOf(
        first,
        block.products.map(({ damping }) => damping),
      );
      results.push(
        await roundBlock({ block, multiply, multiplyPartOf: session.partMultiplierOf, stretchesOf, kernels, helper, iterations }),
      );
    }
  } finally {
    await Promise.allSettled([helper?.close()]);
    await session.close();
  }
  return results.flat();
}

/** Rows of one group, or of several whole groups. */
interface Block {
  readonly first: number;
  readonly products: readonly DampedProducts[];
  readonly rows: readonly AdaptiveRow[];
}

/** The last use of a group's products is kept: groups with several blocks follow one another. */
function openOnce(products: readonly DampedProducts[], session: ProductsSession): (group: number) => Promise<InputStretches> {
  let known: { readonly group: number; readonly stretches: InputStretches } | undefined;
  return async group => {
    if (known?.group === group) return known.stretches;
    known = undefined;
    const stretches = await cutInputs(products[group] as DampedProducts, part => session.productsOf(group, part));
    known = { group, stretches };
    return stretches;
  };
}

interface BlockRequest {
  readonly block: Block;
  readonly multiply: Multiply;
  readonly multiplyPartOf: (group: number) => MultiplyPart;
  readonly stretchesOf: (group: number) => Promise<InputStretches>;
  readonly kernels: { readonly soft: SoftKernel; readonly settle: SettleKernel };
  readonly helper: SettleHelper | undefined;
  readonly iterations: number;
}

async function roundBlock(request: BlockRequest): Promise<readonly Int32Array[]> {
  const { block, multiply, kernels, iterations } = request;
  const { rows, products } = block;
  const columns = products[0]?.size ?? 0;
  const perGroup = rows.length / products.length;
  const count = rows.length * columns;
  const soft = kernels.soft.take(count);
  const lower = new Int32Array(count);
  const units = rows.map(({ weights, rest, grid }, row) => {
    if (rest !== undefined) soft.rest.set(rest, row * columns);
    return startRow(soft, lower, { weights, grid, products: products[Math.floor(row / perGroup)] as DampedProducts, start: row * columns });
  });
  for (let number = 1; number <= iterations; number++) {
    soft.pull.set(await multiply(soft.difference));
    kernels.soft.descend(count, stepAt(number, iterations));
  }
  const { changes, integers } = decide(soft, lower);
  const before = changes.slice();
  const pull = await multiply(soft.difference);
  const slopes = new Float64Array(count);
  for (let i = 0; i < count; i++) slopes[i] = (pull[i] as number) - (soft.rest[i] as number);
  await settleBlock(request, units, { changes, pull: slopes, columns });
  for (let i = 0; i < count; i++) if (changes[i] !== before[i]) integers[i] = (integers[i] as number) + Math.sign(before[i] as number);
  return rows.map((_, row) => integers.slice(row * columns, (row + 1) * columns));
}

interface BlockChoices {
  readonly changes: Float64Array;
  readonly pull: Float64Array;
  readonly columns: number;
}

async function settleBlock(
  { block: { first, products }, kernels, helper, multiplyPartOf, stretchesOf }: BlockRequest,
  units: readonly number[],
  { changes, pull, columns }: BlockChoices,
): Promise<void> {
  const rows = units.map((unit, row) => ({
    changes: changes.subarray(row * columns, (row + 1) * columns),
    pull: pull.subarray(row * columns, (row + 1) * columns),
    smallestGain: SMALLEST_GAIN * unit,
  }));
  const perGroup = rows.length / products.length;
  for (const index of products.keys()) {
    await settleRows({
      stretches: await stretchesOf(first + index),
      rows: rows.slice(index * perGroup, (index + 1) * perGroup),
      kernel: kernels.settle,
      helper,
      multiplyPart: multiplyPartOf(first + index),
    });
  }
}

interface RowStart {
  readonly weights: Float32Array;
  readonly grid: RowGrid;
  readonly products: DampedProducts;
  readonly start: number;
}

/** Shares begin where the weights are. Returns the unit of the row. */
function startRow(soft: SoftWeights, lower: Int32Array, { weights, grid, products, start }: RowStart): number {
  const { size, diagonal, damping } = products;
  const shares = new Float64Array(size);
  let [squares, free] = [0, 0];
  for (let i = 0; i < size; i++) {
    const [scale, zeroPoint] = [grid.scales[i] as number, grid.zeroPoints[i] as number];
    const exact = (weights[i] as number) / scale + zeroPoint;
    const below = Math.max(grid.low, Math.min(grid.high, Math.floor(exact)));
    lower[start + i] = below;
    soft.base[start + i] = (below - exact) * scale;
    if (exact < grid.low || below >= grid.high) continue;
    soft.step[start + i] = scale;
    shares[i] = exact - below;
    squares += scale * scale * ((diagonal[i] as number) + damping);
    free++;
  }
  const unit = squares > 0 ? squares / free : 1;
  for (let i = 0; i < size; i++) {
    soft.factor[start + i] = (2 * (soft.step[start + i] as number)) / unit;
    startAt(soft, start + i, shares[i] as number);
  }
  return unit;
}

function stepAt(number: number, iterations: number): SoftStep {
  const progress = (number - 1) / iterations;
  if (progress < WARM_UP) return { strength: 0, exponent: FIRST_EXPONENT, number };
  const part = (progress - WARM_UP) / (1 - WARM_UP);
  const exponent = LAST_EXPONENT + ((FIRST_EXPONENT - LAST_EXPONENT) * (1 + Math.cos(part * Math.PI))) / 2;
  return { strength: STRENGTH, exponent: Math.round(exponent), number };
}

/** Rounds up from a share of one half: `difference` follows. `changes` is what the other choice adds. */
function decide({ base, step, sigmoid, difference }: SoftWeights, lower: Int32Array) {
  const changes = new Float64Array(lower.length);
  const integers = lower.slice();
  for (let i = 0; i < lower.length; i++) {
    const one = step[i] as number;
    const isUp = one !== 0 && shareOf(sigmoid[i] as number) >= 0.5;
    if (isUp) integers[i] = (integers[i] as number) + 1;
    changes[i] = isUp ? -one : one;
    difference[i] = (base[i] as number) + (isUp ? one : 0);
  }
  return { changes, integers };
}
