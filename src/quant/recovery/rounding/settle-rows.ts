/**
 * Settles the choices of many rows: stretches of inputs take turns, and products of changed choices with the inputs outside of a stretch follow together.
 * Rows that nothing changes any more drop out.
 */
import type { DampedProducts } from './damped-products.js';
import type { InputPart, MultiplyPart } from './products-session.js';
import { type Choices, findPartners, type SettledInputs } from './settle-choices.js';
import type { SettleHelper } from './settle-helper.js';
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
  /** Settles half of the rows at the same time; the results are the same without it. */
  readonly helper?: SettleHelper | undefined;
  readonly multiplyPart: MultiplyPart;
}

/** Ends when no choice of a row, alone or with a partner of its stretch, lowers the row's error, or all turns are over. @throws RuntimeError `model-run`. */
export async function settleRows({ stretches, rows, kernel, helper, multiplyPart }: SettleRequest): Promise<void> {
  let open = rows;
  for (let turn = 0; turn < TURNS && open.length > 0; turn++) {
    const changed = new Set<RowChoices>();
    for (const stretch of stretches) {
      const { moved, changes } = await settleStretch(stretch, open, {
        kernel,
        helper,
        passes: stretches.length > 1 ? PASSES : PASSES_OF_ONE,
      });
      for (const row of moved) changed.add(row);
      if (stretches.length > 1 && moved.length > 0)
        followOutside(stretch, moved, await multiplyPart(changes, { start: stretch.start, size: stretch.inputs.size }));
    }
    open = stretches.length > 1 ? open.filter(row => changed.has(row)) : [];
  }
}

interface Settling {
  readonly kernel: SettleKernel;
  readonly helper: SettleHelper | undefined;
  readonly passes: number;
}

/** The rows that changed, and by how much, row after row. */
async function settleStretch({ start, inputs }: InputStretch, rows: readonly RowChoices[], settling: Settling) {
  const { size } = inputs;
  const partOf = (all: Float64Array): Float64Array => all.subarray(start, start + size);
  const before = rows.map(({ changes }) => partOf(changes).slice());
  await settleParts(
    inputs,
    rows.map(({ changes, pull, smallestGain }) => ({ changes: partOf(changes), pull: partOf(pull), smallestGain })),
    settling,
  );
  const moved: RowChoices[] = [];
  const changes = new Float32Array(rows.length * size);
  for (const [index, row] of rows.entries()) {
    const [own, former] = [partOf(row.changes), before[index] as Float64Array];
    if (isEqual(own, former)) continue;
    for (let i = 0; i < size; i++) changes[moved.length * size + i] = own[i] === former[i] ? 0 : (former[i] as number);
    moved.push(row);
  }
  return { moved, changes: changes.subarray(0, moved.length * size) };
}

function isEqual(a: Float64Array, b: Float64Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** With fewer choices, sending them takes longer than settling them. */
const LEAST_SENT = 1 << 15;

/** Settles rows of one stretch, the second half of them by the helper. */
async function settleParts(inputs: SettledInputs, rows: readonly RowChoices[], { kernel, helper, passes }: Settling): Promise<void> {
  const own = helper === undefined || rows.length * inputs.size < 2 * LEAST_SENT ? rows.length : Math.ceil(rows.length / 2);
  const sent = rows.slice(own);
  const answered = sent.length === 0 ? undefined : helper?.settle({ inputs, passes, ...packRows(sent, inputs.size) });
  // It is awaited below, unless this thread fails first.
  answered?.catch(() => undefined);
  kernel.load(inputs);
  for (const row of rows.slice(0, own)) kernel.settle({ ...row, passes });
  const answer = await answered;
  if (answer === undefined) return;
  for (const [index, { changes, pull }] of sent.entries()) {
    changes.set(answer.changes.subarray(index * inputs.size, (index + 1) * inputs.size));
    pull.set(answer.pull.subarray(index * inputs.size, (index + 1) * inputs.size));
  }
}

function packRows(rows: readonly RowChoices[], size: number) {
  const [changes, pull] = [new Float64Array(rows.length * size), new Float64Array(rows.length * size)];
  for (const [index, row] of rows.entries()) {
    changes.set(row.changes, index * size);
    pull.set(row.pull, index * size);
  }
  return { changes, pull, smallestGains: Float64Array.from(rows, ({ smallestGain }) => smallestGain) };
}

/** The pull of all inputs outside of the stretch follows. */
function followOutside({ start, inputs: { size } }: InputStretch, rows: readonly RowChoices[], products: Float32Array): void {
  for (const [index, { pull }] of rows.entries()) {
    const from = index * pull.length;
    for (let i = 0; i < start; i++) pull[i] = (pull[i] as number) + (products[from + i] as number);
    for (let i = start + size; i < pull.length; i++) pull[i] = (pull[i] as number) + (products[from + i] as number);
  }
}
