/**
 * Settles the choices of many rows: stretches of inputs take turns, and products of changed choices with the inputs outside of a stretch follow together.
 * Rows that nothing changes any more drop out.
 */
import type { DampedProducts } from './damped-products.js';
import type { InputPart, MultiplyPart } from './products-session.js';
import { type Choices, findPartners, type SettledInputs } from './settle-choices.js';
import { MOST_SETTLED, type SettleKernel } from './settle-kernel.js';

/** Inputs from `start` on. */
interface InputStretch {
  readonly start: number;
  readonly inputs: SettledInputs;
}

/** All stretches of one group's inputs. */
export type InputStretches = readonly InputStretch[];

/** Of equal size but for the last; the limit depends on sizes alone. */
export async function cutInputs(
  { size, damping }: Pick<DampedProducts, 'size' | 'damping'>,
  productsOf: (part: InputPart) => Promise<Float32Array>,
): Promise<InputStretches> {
  const count = Math.ceil(size / MOST_SETTLED);
  const most = Math.ceil(size / count);
  const stretches: InputStretch[] = [];
  for (let start = 0; start < size; start += most) {
    const own = Math.min(most, size - start);
    const products = await productsOf({ start, size: own });
    stretches.push({ start, inputs: { size: own, products, damping, partners: findPartners({ size: own, products }) } });
  }
  return stretches;
}

/** Several stretches take turns, each with few passes: what they change next depends on the others. One stretch goes on until nothing changes. */
const [TURNS, PASSES, PASSES_OF_ONE] = [2, 2, 1000];

export type RowChoices = Omit<Choices, 'passes'>;

export interface SettleRequest {
  readonly stretches: InputStretches;
  /** The choices of each row, for all inputs. They are changed. */
  readonly rows: readonly RowChoices[];
  readonly kernel: SettleKernel;
  readonly multiplyPart: MultiplyPart;
}

/** Ends when no choice of a row, alone or with a partner of its stretch, lowers the row's error, or all turns are over. @throws RuntimeError `model-run`. */
export async function settleRows({ stretches, rows, kernel, multiplyPart }: SettleRequest): Promise<void> {
  let open = rows;
  for (let turn = 0; turn < TURNS && open.length > 0; turn++) {
    const changed = new Set<RowChoices>();
    for (const stretch of stretches) {
      const { moved, changes } = settleStretch(stretch, open, { kernel, passes: stretches.length > 1 ? PASSES : PASSES_OF_ONE });
      for (const row of moved) changed.add(row);
      if (stretches.length > 1 && moved.length > 0)
        followOutside(stretch, moved, await multiplyPart(changes, { start: stretch.start, size: stretch.inputs.size }));
    }
    open = stretches.length > 1 ? open.filter(row => changed.has(row)) : [];
  }
}

/** The rows that changed, and by how much, row after row. */
function settleStretch(
  { start, inputs }: InputStretch,
  rows: readonly RowChoices[],
  { kernel, passes }: { kernel: SettleKernel; passes: number },
) {
  const { size } = inputs;
  kernel.load(inputs);
  const moved: RowChoices[] = [];
  const changes = new Float32Array(rows.length * size);
  for (const row of rows) {
    const own = row.changes.subarray(start, start + size);
    const before = own.slice();
    kernel.settle({ changes: own, pull: row.pull.subarray(start, start + size), smallestGain: row.smallestGain, passes });
    if (own.every((change, i) => change === before[i])) continue;
    for (let i = 0; i < size; i++) changes[moved.length * size + i] = own[i] === before[i] ? 0 : (before[i] as number);
    moved.push(row);
  }
  return { moved, changes: changes.subarray(0, moved.length * size) };
}

/** The pull of all inputs outside of the stretch follows. */
function followOutside({ start, inputs: { size } }: InputStretch, rows: readonly RowChoices[], products: Float32Array): void {
  for (const [index, { pull }] of rows.entries()) {
    const from = index * pull.length;
    for (let i = 0; i < start; i++) pull[i] = (pull[i] as number) + (products[from + i] as number);
    for (let i = start + size; i < pull.length; i++) pull[i] = (pull[i] as number) + (products[from + i] as number);
  }
}
