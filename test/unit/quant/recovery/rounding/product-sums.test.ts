/** Products that are summed by halves and on two threads against one product of ONNX Runtime on one thread: the bits are the same. */
import { addInput, addNode, makeModel } from '../../../../../src/onnx/ir/edit.js';
import type { ValueId } from '../../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../../src/onnx/serde/encode-model.js';
import { openProductSums } from '../../../../../src/quant/recovery/rounding/product-sums.js';
import { openSession } from '../../../../../src/runtime/session/session.js';
import { seededRandom } from '../../../../../src/stage/random.js';
import { makeTensor, type Tensor } from '../../../../../src/tensor/tensor.js';

function wholeModel(): Uint8Array {
  const model = makeModel({ opset: 17, irVersion: 8, graphName: 'whole' });
  const { graph } = model;
  const add = (opType: string, inputs: readonly ValueId[], output: string, attributes = {}): ValueId =>
    addNode(model, graph, { opType, name: output, inputs: [...inputs], outputs: [output], attributes }).outputs[0] as ValueId;
  const input = (name: string, rows: string): ValueId =>
    addInput(model, graph, name, { kind: 'tensor', dtype: 'float32', dims: ['groups', rows, 'positions'] }).id;
  const x = input('x', 'columns');
  const turned = add('Transpose', [x], 'turned', { perm: { kind: 'ints', value: [0n, 2n, 1n] } });
  graph.outputs = [add('MatMul', [x, turned], 'h'), add('MatMul', [input('y', 'rows'), turned], 't')];
  return encodeModel(model);
}

it.each([
  { rows: 40, columns: 100, positions: 900, why: 'one block, one thread' },
  { rows: 130, columns: 257, positions: 700, why: 'a block more for one column' },
  { rows: 64, columns: 576, positions: 1500, why: 'several blocks' },
  { rows: 1, columns: 300, positions: 500, why: 'one row' },
])('the bits of one product: $rows rows of $columns inputs, $why', async ({ rows, columns, positions }) => {
  const random = seededRandom('test', `${rows} ${columns}`);
  const make = (count: number): Tensor<'float32'> =>
    makeTensor(
      'float32',
      [1, count, positions],
      Float32Array.from({ length: count * positions }, () => Math.max(0, random() - 0.3)),
    );
  const blocks = [0, 1].map(() => ({ x: make(columns), y: make(rows) }));
  const sums = await openProductSums({ groups: 1, rows, columns }, 'with targets');
  const whole = await openSession(wholeModel(), { optimization: 'disabled', threads: 1 });
  try {
    const expected = { h: new Float32Array(columns * columns), t: new Float32Array(rows * columns) };
    for (const block of blocks) {
      await sums.add(block, 'both');
      const { h, t } = await whole.run(block);
      for (let i = 0; i < expected.h.length; i++) expected.h[i] = (expected.h[i] ?? 0) + Number((h?.data as Float32Array)[i]);
      for (let i = 0; i < expected.t.length; i++) expected.t[i] = (expected.t[i] ?? 0) + Number((t?.data as Float32Array)[i]);
    }
    const products = sums.takeProducts();
    const countOther = (a: Float32Array, b: Float32Array): number => a.reduce((count, value, i) => count + (value === b[i] ? 0 : 1), 0);
    expect(countOther(products, expected.h)).toBe(0);
    expect(countOther(sums.targets, expected.t)).toBe(0);
  } finally {
    await sums.close();
    await whole.close();
  }
});
