/**
 * Adaptive rounding (AdaRound): whether each weight is rounded up or down follows from the squared error of the outputs.
 * Source: Nagel et al., 2020 (arXiv 2004.10568), with the products of all inputs in place of batches.
 */
import type { DampedProducts } from './damped-products.js';
import { type FittedRows, fitRows } from './fit-rows.js';
import { type Multiply, type MultiplyPart, openProducts, type ProductsSession } from './products-session.js';
import type { RowGrid } from './row-grid.js';
import { openSettleKernel, type SettleKernel } from './settle-kernel.js';
import { cutInputs, type InputStretches, settleRows } from './settle-rows.js';
import { MOST_WEIGHTS, openSoftKernel, type SoftKernel } from './soft-kernel.js';
import { type SoftStep, type SoftWeights, shareOf, startAt } from './soft-weights.js';

/** Without regularizer at first, then its exponent falls along half a cosine. */
const [WARM_UP, FIRST_EXPONENT, LAST_EXPONENT, STRENGTH] = [0.2, 20, 2, 0.01];

/** In units of a row, which has an error of a twelfth of a unit per weight: products are in float32, and many small gains take long. */
const SMALLEST_GAIN = 1e-4;

export interface AdaptiveRow {
  readonly weights: Float32Array;
  readonly grid: RowGrid;
  /** Σ x·y that the row is to compute; undefined: what the weights compute. */
  readonly target: Float32Array | undefined;
}

/** Rows that read the same inputs. */
export interface AdaptiveGroup {
  readonly rows: readonly AdaptiveRow[];
  readonly products: DampedProducts;
}

/**
 * Returns the integers of each row, group by group: each the one below or above its weight, or its weight fitted to the target.
 * They lower the squared error of the outputs on the inputs behind H. In the end neither one other choice, nor two of inputs that depend on each other,
 * lower it further.
 * @param groups of one size, with the same number of rows each. @throws RuntimeError `model-run`.
 */
export async function roundAdaptively(groups: readonly AdaptiveGroup[], iterations: number): Promise<readonly Int32Array[]> {
  const blocks = cutBlocks(groups);
  const session = await openProducts(groups.map(({ products }) => products));
  const kernels = { soft: openSoftKernel(), settle: openSettleKernel() };
  const results: (readonly Int32Array[])[] = [];
  try {
    const stretchesOf = openOnce(groups, session);
    for (const block of blocks) {
      const multiply = session.multiplierOf(block.first, block.groups.length);
      results.push(await roundBlock({ block, multiply, multiplyPartOf: session.partMultiplierOf, stretchesOf, kernels, iterations }));
    }
  } finally {
    await session.close();
  }
  return results.flat();
}

/** Rows of one group, or of several whole groups. */
interface Block {
  readonly first: number;
  readonly groups: readonly AdaptiveGroup[];
}

/** The limits depend on sizes alone. */
function cutBlocks(groups: readonly AdaptiveGroup[]): readonly Block[] {
  const perGroup = groups[0]?.rows.length ?? 0;
  const most = Math.max(1, Math.floor(MOST_WEIGHTS / (groups[0]?.products.size ?? 1)));
  if (groups.length > 1 && perGroup <= most) {
    const together = Math.floor(most / perGroup);
    return starts(groups.length, together).map(first => ({ first, groups: groups.slice(first, first + together) }));
  }
  const count = Math.ceil(perGroup / Math.ceil(perGroup / most));
  return groups.flatMap(({ rows, products }, first) =>
    starts(rows.length, count).map(start => ({ first, groups: [{ rows: rows.slice(start, start + count), products }] })),
  );
}

function starts(length: number, step: number): readonly number[] {
  return Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step);
}

/** The last use of a group's products is kept: groups with several blocks follow one another. */
function openOnce(groups: readonly AdaptiveGroup[], session: ProductsSession): (group: number) => Promise<InputStretches> {
  let known: { readonly group: number; readonly stretches: InputStretches } | undefined;
  return async group => {
    if (known?.group === group) return known.stretches;
    known = undefined;
    const stretches = await cutInputs((groups[group] as AdaptiveGroup).products, part => session.productsOf(group, part));
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
  readonly iterations: number;
}

async function roundBlock(request: BlockRequest): Promise<readonly Int32Array[]> {
  const { block, multiply, kernels, iterations } = request;
  const { groups } = block;
  const columns = groups[0]?.products.size ?? 0;
  const rows = groups.flatMap(group => group.rows.map(row => ({ ...row, products: group.products })));
  const { wanted, rest } = await fitBlock(rows, columns, multiply);
  const count = rows.length * columns;
  const soft = kernels.soft.take(count);
  soft.rest.set(rest);
  const lower = new Int32Array(count);
  const units = rows.map(({ grid, products }, row) => startRow(soft, lower, { wanted, grid, products, start: row * columns }));
  for (let number = 1; number <= iterations; number++) {
    soft.pull.set(await multiply(soft.difference));
    kernels.soft.descend(count, stepAt(number, iterations));
  }
  const { changes, integers } = decide(soft, lower);
  const before = changes.slice();
  const pull = await multiply(soft.difference);
  const slopes = Float64Array.from(pull, (value, i) => value - (rest[i] as number));
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
  { block: { first, groups }, kernels, multiplyPartOf, stretchesOf }: BlockRequest,
  units: readonly number[],
  { changes, pull, columns }: BlockChoices,
): Promise<void> {
  const rows = units.map((unit, row) => ({
    changes: changes.subarray(row * columns, (row + 1) * columns),
    pull: pull.subarray(row * columns, (row + 1) * columns),
    smallestGain: SMALLEST_GAIN * unit,
  }));
  const perGroup = rows.length / groups.length;
  for (const index of groups.keys()) {
    await settleRows({
      stretches: await stretchesOf(first + index),
      rows: rows.slice(index * perGroup, (index + 1) * perGroup),
      kernel: kernels.settle,
      multiplyPart: multiplyPartOf(first + index),
    });
  }
}

type BlockRow = AdaptiveRow & { readonly products: DampedProducts };

/** The weights of all rows, or those that come closest to the targets. */
async function fitBlock(rows: readonly BlockRow[], columns: number, multiply: Multiply): Promise<FittedRows> {
  const weights = new Float32Array(rows.length * columns);
  const targets = new Float32Array(weights.length);
  for (const [row, { weights: own, target }] of rows.entries()) {
    weights.set(own, row * columns);
    if (target !== undefined) targets.set(target, row * columns);
  }
  if (rows.some(({ target }) => target === undefined)) return { wanted: weights, rest: new Float32Array(weights.length) };
  const dampings = rows.map(({ products }) => products.damping);
  return fitRows({ weights, targets, dampings, columns }, multiply);
}

interface RowStart {
  readonly wanted: Float32Array;
  readonly grid: RowGrid;
  readonly products: DampedProducts;
  readonly start: number;
}

/** Shares begin where the weights are. Returns the unit of the row. */
function startRow(soft: SoftWeights, lower: Int32Array, { wanted, grid, products, start }: RowStart): number {
  const { size, diagonal, damping } = products;
  const shares = new Float64Array(size);
  let [squares, free] = [0, 0];
  for (let i = 0; i < size; i++) {
    const [scale, zeroPoint] = [grid.scales[i] as number, grid.zeroPoints[i] as number];
    const exact = (wanted[start + i] as number) / scale + zeroPoint;
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
