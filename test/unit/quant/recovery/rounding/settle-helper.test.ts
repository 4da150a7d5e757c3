/** The thread that settles half of the rows gives the bits of one thread. */
import { openSettleHelper, type SettleHelper } from '../../../../../src/quant/recovery/rounding/settle-helper.js';
import { openSettleKernel } from '../../../../../src/quant/recovery/rounding/settle-kernel.js';
import { cutInputs, type RowChoices, settleRows } from '../../../../../src/quant/recovery/rounding/settle-rows.js';
import { seededRandom } from '../../../../../src/stage/random.js';
import { failureOf } from '../../../../support/error-code.js';

const SIZE = 700;
const ROWS = 201;
const next = seededRandom('settle', 'inputs');
const inputs = Array.from({ length: 40 }, () => {
  const common = next() - 0.5;
  return Array.from({ length: SIZE }, () => next() - 0.5 + common);
});

/** Products of the inputs in [start, start + size). */
const productsOf = async ({ start, size }: { readonly start: number; readonly size: number }): Promise<Float32Array> =>
  Float32Array.from({ length: size * size }, (_, at) =>
    inputs.reduce((sum, sample) => sum + (sample[start + Math.floor(at / size)] ?? 0) * (sample[start + (at % size)] ?? 0), 0),
  );

const rowsOf = (): readonly RowChoices[] => {
  const random = seededRandom('settle', 'rows');
  return Array.from({ length: ROWS }, () => ({
    changes: Float64Array.from({ length: SIZE }, () => (random() < 0.1 ? 0 : random() - 0.5)),
    pull: Float64Array.from({ length: SIZE }, () => random() - 0.5),
    smallestGain: 1e-6,
  }));
};

const multiplyPart = async (rows: Float32Array, { start, size }: { readonly start: number; readonly size: number }) => {
  const count = rows.length / size;
  const result = new Float32Array(count * SIZE);
  for (let row = 0; row < count; row++) {
    const sums = inputs.map(sample => {
      let sum = 0;
      for (let i = 0; i < size; i++) sum += (rows[row * size + i] ?? 0) * (sample[start + i] ?? 0);
      return sum;
    });
    for (let i = 0; i < SIZE; i++) result[row * SIZE + i] = inputs.reduce((sum, sample, at) => sum + (sums[at] ?? 0) * (sample[i] ?? 0), 0);
  }
  return result;
};

it('choices and slopes are the same with and without the thread, over several stretches', async () => {
  const stretches = await cutInputs({ size: SIZE, damping: 0.1 }, productsOf);
  expect(stretches.length).toBeGreaterThan(1);
  const [alone, shared] = [rowsOf(), rowsOf()];
  const kernel = openSettleKernel();
  await settleRows({ stretches, rows: alone, kernel, multiplyPart });
  const helper = openSettleHelper();
  const sent: number[] = [];
  const counted: SettleHelper = {
    ...helper,
    settle(order) {
      sent.push(order.smallestGains.length);
      return helper.settle(order);
    },
  };
  try {
    await settleRows({ stretches, rows: shared, kernel, helper: counted, multiplyPart });
  } finally {
    await helper.close();
  }
  expect(sent[0]).toBe(100);
  expect(shared).toEqual(alone);
  expect(alone).not.toEqual(rowsOf());
});

it('a thread that has ended is an error', async () => {
  const helper = openSettleHelper();
  await helper.close();
  const order = {
    inputs: { size: 0, products: new Float32Array(0), damping: 0, partners: { each: 0, indices: new Int32Array(0) } },
    passes: 1,
  };
  const empty = { changes: new Float64Array(0), pull: new Float64Array(0), smallestGains: new Float64Array(0) };
  expect(await failureOf(() => helper.settle({ ...order, ...empty }))).toMatchObject({ code: 'settle-thread' });
});
