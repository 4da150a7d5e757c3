/** The products of a layer's inputs against ONNX Runtime: the squares of what the layer computes with any weights are wᵀ·H·w. */
import { indexUses } from '../../../../../src/onnx/ir/edit.js';
import type { Attribute, Node } from '../../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../../src/onnx/serde/encode-model.js';
import { openLayerSums } from '../../../../../src/quant/recovery/rounding/layer-sums.js';
import { findLayerWeight, type LayerWeight } from '../../../../../src/quant/recovery/rounding/layer-weight.js';
import type { SquareMatrix } from '../../../../../src/quant/recovery/rounding/square-matrix.js';
import { openSession } from '../../../../../src/runtime/session/session.js';
import { seededRandom } from '../../../../../src/stage/random.js';
import { encodeRawTensor } from '../../../../../src/tensor/raw-tensor.js';
import { countElements } from '../../../../../src/tensor/shape.js';
import { makeTensor } from '../../../../../src/tensor/tensor.js';
import { floats, smallModel } from '../../../../support/small-model.js';

interface Case {
  readonly op: 'Conv' | 'ConvTranspose' | 'Gemm';
  readonly input: readonly number[];
  readonly weight: readonly number[];
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** Less than half as many positions as inputs of an output. */
  readonly few?: true;
}

const CASES: readonly Case[] = [
  {
    op: 'Conv',
    input: [2, 3, 7, 6],
    weight: [4, 3, 3, 2],
    attributes: { pads: { kind: 'ints', value: [1n, 0n, 2n, 1n] }, strides: { kind: 'ints', value: [2n, 1n] } },
  },
  {
    op: 'Conv',
    input: [1, 4, 9, 9],
    weight: [6, 2, 3, 3],
    attributes: {
      group: { kind: 'int', value: 2n },
      dilations: { kind: 'ints', value: [2n, 2n] },
      pads: { kind: 'ints', value: [2n, 2n, 2n, 2n] },
    },
  },
  {
    op: 'Conv',
    input: [1, 5, 30, 31],
    weight: [5, 1, 3, 3],
    attributes: { group: { kind: 'int', value: 5n }, pads: { kind: 'ints', value: [1n, 1n, 1n, 1n] } },
  },
  { op: 'Conv', input: [2, 2, 11], weight: [3, 2, 4], attributes: { strides: { kind: 'ints', value: [3n] } } },
  { op: 'ConvTranspose', input: [2, 3, 4, 5], weight: [3, 2, 2, 2], attributes: { strides: { kind: 'ints', value: [2n, 2n] } } },
  { op: 'Conv', input: [2, 9, 4, 4], weight: [3, 9, 3, 3], few: true },
  { op: 'Gemm', input: [7, 5], weight: [5, 3] },
  { op: 'Gemm', input: [3, 7], weight: [7, 2], few: true },
  { op: 'Gemm', input: [7, 5], weight: [3, 5], attributes: { transB: { kind: 'int', value: 1n } } },
];

const quadraticForm = ({ size, data }: SquareMatrix, w: readonly number[]): number => {
  let sum = 0;
  for (let i = 0; i < size; i++)
    for (let j = i; j < size; j++) sum += (i === j ? 1 : 2) * (w[i] ?? 0) * (w[j] ?? 0) * (data[i * size + j] ?? 0);
  return sum;
};

it.each(CASES)('$op $input with $weight', async ({ op, input, weight, attributes = {}, few = false }) => {
  const random = seededRandom('test', JSON.stringify([op, input, weight]));
  const integers = Int8Array.from({ length: countElements(weight) }, () => Math.floor(random() * 15) - 7);
  const x = makeTensor(
    'float32',
    [...input],
    Float32Array.from({ length: countElements(input) }, () => random() - 0.5),
  );
  const model = smallModel({
    inputs: { x: ['float32', [...input]] },
    constants: { w_q: encodeRawTensor(makeTensor('int8', [...weight], integers)), w_scale: floats([], [0.25]) },
    nodes: [
      { op: 'DequantizeLinear', in: ['w_q', 'w_scale'], out: ['w'] },
      { op, in: ['x', 'w'], out: ['y'], attributes: { ...attributes } },
    ],
    outputs: ['y'],
  });
  const node = [...model.graph.nodes.values()].at(-1);
  const found = node === undefined ? 'no node' : findLayerWeight(model.graph, indexUses(model.graph), node);
  if (node === undefined || typeof found === 'string') throw new Error(String(found));

  const session = await openSession(encodeModel(model), { optimization: 'disabled' });
  const { y } = await session.run({ x });
  await session.close();
  if (y === undefined) throw new Error('no output');

  const bias = op === 'ConvTranspose' ? undefined : new Float32Array(found.rows);
  const sumsBy = async (few: 'products' | 'inputs') => {
    const summing = await openLayerSums(node, found, { bias, few, samples: 1 });
    await summing.add({ input: x, output: y });
    return summing.finish().finally(summing.close);
  };
  const { groups, targets } = await sumsBy('products');
  const perGroup = found.rows / found.groups;
  let squares = 0;
  let withOutputs = 0;
  for (let row = 0; row < found.rows; row++) {
    const w = Array.from({ length: found.columns }, (_, column) => 0.25 * (integers[found.at(row, column)] ?? 0));
    const sum = groups[Math.floor(row / perGroup)];
    if (sum?.kind === 'products') squares += quadraticForm(sum, w);
    withOutputs += w.reduce((total, value, column) => total + value * (targets?.[row]?.[column] ?? 0), 0);
  }

  const expected = Array.from(y.data as ArrayLike<number>, value => value * value).reduce((sum, value) => sum + value, 0);
  // ONNX Runtime sums in float32: some 100 products at 6e-8 each.
  expect(Math.abs(squares / expected - 1)).toBeLessThan(1e-5);
  // The products of inputs and outputs, times the weights, are the squares of the outputs.
  if (targets !== undefined) expect(Math.abs(withOutputs / expected - 1)).toBeLessThan(1e-5);
  const other = await sumsBy('inputs');
  const [kept] = other.groups;
  expect(kept?.kind).toBe(few ? 'inputs' : 'products');
  expect(other.targets).toEqual(targets);
  if (kept?.kind !== 'inputs') return;
  // Few positions are kept in their place: their products are H.
  const { size, positions, data } = kept;
  expect(data).toHaveLength(positions * size);
  for (const [index, product] of groups[0]?.data.entries() ?? []) {
    let sum = 0;
    for (let at = 0; at < data.length; at += size) sum += (data[at + Math.floor(index / size)] ?? 0) * (data[at + (index % size)] ?? 0);
    expect(Math.abs(sum - product)).toBeLessThan(1e-5);
  }
});

it('samples are summed together as one by one', async () => {
  const random = seededRandom('test', 'samples');
  const node = { opType: 'Gemm', name: 'gemm', attributes: {} } as unknown as Node;
  const weight = {
    dims: [2, 3],
    groups: 1,
    rows: 2,
    columns: 3,
    at: (row: number, column: number) => row * 3 + column,
  } as unknown as LayerWeight;
  const matrix = (rows: number, columns: number) =>
    makeTensor(
      'float32',
      [rows, columns],
      Float32Array.from({ length: rows * columns }, () => random() - 0.5),
    );
  const samples = [5, 1, 9].map(rows => ({ input: matrix(rows, 3), output: matrix(rows, 2) }));
  const bias = [0.5, -1];
  const summing = await openLayerSums(node, weight, { bias, few: 'inputs', samples: 3 });
  for (const sample of samples) await summing.add(sample);
  const { groups, targets } = await summing.finish();
  await summing.close();
  const sumOf = (of: (sample: (typeof samples)[number], position: number) => number): number =>
    samples.reduce(
      (sum, sample) => sum + Array.from({ length: sample.input.dims[0] ?? 0 }, (_, k) => of(sample, k)).reduce((a, b) => a + b, 0),
      0,
    );
  const x = ({ input }: (typeof samples)[number], k: number, i: number): number => input.data[3 * k + i] ?? 0;
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < 3; j++)
      expect(groups[0]?.data[3 * i + j]).toBeCloseTo(
        sumOf((s, k) => x(s, k, i) * x(s, k, j)),
        5,
      );
    for (let row = 0; row < 2; row++)
      expect(targets?.[row]?.[i]).toBeCloseTo(
        sumOf((s, k) => x(s, k, i) * ((s.output.data[2 * k + row] ?? 0) - (bias[row] ?? 0))),
        5,
      );
  }
});
