/** Tests of the rewrite rule `equalize`: outputs, weight ranges, chains it finds, and reasons to decline. */
import { int, ints } from '../../../../src/onnx/ir/attribute.js';
import type { Constant, Model } from '../../../../src/onnx/ir/model.js';
import { type RewriteRecord, rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { decodeRawTensor, encodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { listProblems, operators, runModel } from '../../../support/look-at-model.js';
import { floats, integers, randomConstant, randomFloats, type SmallModel, smallModel } from '../../../support/small-model.js';

type Form = 'real' | 'power-of-two';

const equalize = (model: Model, form: Form): RewriteRecord =>
  rewriteModel(model, { rules: [{ rule: getRule('equalize', form), matches: 'any' }], edits: [], check: listProblems });

const dataOf = (constant: Constant | undefined): Float32Array => {
  if (constant?.dtype !== 'float32') throw new Error('not a float32 constant');
  return decodeRawTensor({ ...constant, dtype: 'float32' }).data;
};

/** Random numbers multiplied by `factor` of their indices along the first two axes. */
function scaledConstant(dims: readonly number[], factor: (row: number, column: number) => number, seed: number): Constant {
  const { data } = randomFloats(dims, seed);
  const [, columns = 1, ...kernel] = dims;
  const inner = kernel.reduce((product, size) => product * size, 1);
  const scaled = data.map((value, at) => value * factor(Math.floor(at / inner / columns), Math.floor(at / inner) % columns));
  return encodeRawTensor(makeTensor('float32', dims, scaled));
}

const SPREAD = [1, 1 / 16, 8, 1 / 4];
const spread = (channel: number): number => SPREAD[channel] ?? 1;

/** Conv, Relu, Conv, LeakyRelu and more between, Conv; the channels between the layers have unlike ranges. */
const CHAIN: SmallModel = {
  inputs: { x: ['float32', [2, 3, 9, 9]] },
  constants: {
    w1: scaledConstant([4, 3, 3, 3], spread, 1),
    b1: scaledConstant([4], spread, 2),
    w2: scaledConstant([4, 4, 1, 1], (row, column) => spread(3 - row) / spread(column), 3),
    slope: floats([4, 1, 1], [0.1, 0.25, 0.5, 0.3]),
    pads: integers([0, 0, 1, 0, 0, 0, 0, 1]),
    w3: scaledConstant([5, 4, 3, 3], (_, column) => 1 / spread(3 - column), 4),
    b3: randomConstant([5], 5),
  },
  nodes: [
    { op: 'Conv', in: ['x', 'w1', 'b1'], out: ['c1'], attributes: { pads: ints([1, 1, 1, 1]) } },
    { op: 'Relu', in: ['c1'], out: ['r1'] },
    { op: 'MaxPool', in: ['r1'], out: ['p1'], attributes: { kernel_shape: ints([2, 2]) } },
    { op: 'Conv', in: ['p1', 'w2'], out: ['c2'] },
    { op: 'PRelu', in: ['c2', 'slope'], out: ['r2'] },
    { op: 'Pad', in: ['r2', 'pads'], out: ['p2'] },
    { op: 'AveragePool', in: ['p2'], out: ['a2'], attributes: { kernel_shape: ints([2, 2]) } },
    { op: 'Conv', in: ['a2', 'w3', 'b3'], out: ['y'] },
  ],
  outputs: ['y'],
};

/** Per layer: the largest weight magnitude of each output channel and of each input channel. */
function peaksOf(model: Model): readonly { readonly outputs: number[]; readonly inputs: number[] }[] {
  const layers = [...model.graph.nodes.values()].filter(({ opType }) => opType === 'Conv');
  return layers.map(({ inputs }) => {
    const constant = inputs[1] === undefined ? undefined : model.graph.values.get(inputs[1])?.constant;
    const [rows = 0, columns = 0] = constant?.dims ?? [];
    const data = dataOf(constant);
    const inner = data.length / rows / columns;
    const peak = (keep: (row: number, column: number) => boolean): number =>
      data.reduce((most, value, at) => {
        const pair = Math.floor(at / inner);
        return keep(Math.floor(pair / columns), pair % columns) ? Math.max(most, Math.abs(value)) : most;
      }, 0);
    return {
      outputs: Array.from({ length: rows }, (_, wanted) => peak(row => row === wanted)),
      inputs: Array.from({ length: columns }, (_, wanted) => peak((_row, column) => column === wanted)),
    };
  });
}

const ratios = (model: Model, link: number): number[] => {
  const peaks = peaksOf(model);
  return (peaks[link]?.outputs ?? []).map((before, channel) => before / (peaks[link + 1]?.inputs[channel] ?? 0));
};

describe('equalize', () => {
  it('with powers of two keeps every bit of the outputs, and brings ranges within a factor of four', async () => {
    const model = smallModel(CHAIN);
    const feeds = { x: randomFloats([2, 3, 9, 9], 7) };
    const before = await runModel(model, feeds);
    expect(Math.max(...ratios(model, 0)) / Math.min(...ratios(model, 0))).toBeGreaterThan(1000);
    equalize(model, 'power-of-two');
    expect(await runModel(model, feeds)).toEqual(before);
    for (const link of [0, 1]) for (const ratio of ratios(model, link)) expect(Math.abs(Math.log2(ratio))).toBeLessThanOrEqual(2);
    expect(operators(model)).toEqual(operators(smallModel(CHAIN)));
  });

  it('with real factors makes the ranges on both sides of a link equal, and rounds', async () => {
    const model = smallModel(CHAIN);
    const feeds = { x: randomFloats([2, 3, 9, 9], 7) };
    const before = await runModel(model, feeds);
    equalize(model, 'real');
    const after = await runModel(model, feeds);
    for (const link of [0, 1]) for (const ratio of ratios(model, link)) expect(ratio).toBeCloseTo(1, 4);
    const [left, right] = [before.y?.data as Float32Array, after.y?.data as Float32Array];
    const largest = left.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    for (const [index, value] of left.entries()) expect(Math.abs(value - (right[index] ?? 0))).toBeLessThan(1e-5 * largest);
  });

  it('changes nothing the second time', () => {
    for (const form of ['real', 'power-of-two'] as const) {
      const model = smallModel(CHAIN);
      equalize(model, form);
      const { rules } = equalize(model, form);
      expect(rules[0]?.applied).toEqual([]);
      expect(rules[0]?.declined.map(({ reason }) => reason)).toContain('its chain is equalized as far as the rule allows');
    }
  });

  it('finds chains through ConvTranspose, Flatten and Gemm in both layouts', async () => {
    for (const transB of [0, 1]) {
      const model = smallModel({
        inputs: { x: ['float32', [2, 3, 4, 4]] },
        constants: {
          w1: scaledConstant([3, 4, 2, 2], (_, column) => spread(column), 1),
          w2: scaledConstant(
            transB === 0 ? [16, 5] : [5, 16],
            (row, column) => 1 / spread(Math.floor((transB === 0 ? row : column) / 4)),
            2,
          ),
          b2: randomConstant([1, 5], 3),
          w3: scaledConstant([5, 2], row => spread(row), 4),
        },
        nodes: [
          { op: 'ConvTranspose', in: ['x', 'w1'], out: ['c'] },
          { op: 'Relu', in: ['c'], out: ['r'] },
          { op: 'AveragePool', in: ['r'], out: ['p'], attributes: { kernel_shape: ints([2, 2]), strides: ints([3, 3]) } },
          { op: 'Flatten', in: ['p'], out: ['f'] },
          { op: 'Gemm', in: ['f', 'w2', 'b2'], out: ['g'], attributes: { transB: int(transB) } },
          { op: 'Relu', in: ['g'], out: ['h'] },
          { op: 'Gemm', in: ['h', 'w3'], out: ['y'] },
        ],
        outputs: ['y'],
      });
      const feeds = { x: randomFloats([2, 3, 4, 4], 7) };
      const before = await runModel(model, feeds);
      const { rules } = equalize(model, 'power-of-two');
      expect(rules[0]?.applied.map(({ values }) => values)).toEqual([['c', 'r', 'p', 'f', 'g', 'h', 'y']]);
      expect(await runModel(model, feeds)).toEqual(before);
    }
  });

  const depthwise = (far: number): SmallModel => ({
    inputs: { x: ['float32', [1, 3, 6, 6]] },
    constants: {
      w1: scaledConstant([4, 3, 1, 1], row => [1, 1.5, 1, 1 / far][row] ?? 1, 1),
      w2: randomConstant([4, 1, 3, 3], 2),
      w3: randomConstant([5, 4, 1, 1], 3),
    },
    nodes: [
      { op: 'Conv', in: ['x', 'w1'], out: ['c1'] },
      { op: 'Relu', in: ['c1'], out: ['r1'] },
      { op: 'Conv', in: ['r1', 'w2'], out: ['c2'], attributes: { group: int(4) } },
      { op: 'Relu', in: ['c2'], out: ['r2'] },
      { op: 'Conv', in: ['r2', 'w3'], out: ['y'] },
    ],
    outputs: ['y'],
  });

  it('equalizes a depthwise triple', () => {
    const model = smallModel(depthwise(1.5));
    expect(equalize(model, 'real').rules[0]?.applied).toHaveLength(1);
    const [head, middle, tail] = peaksOf(model);
    for (const [channel, peak] of (middle?.outputs ?? []).entries()) {
      expect(peak / (head?.outputs[channel] ?? 0)).toBeCloseTo(1, 4);
      expect(peak / (tail?.inputs[channel] ?? 0)).toBeCloseTo(1, 4);
    }
  });

  it('does not change a depthwise triple whose factors span more than two bits', () => {
    const { rules } = equalize(smallModel(depthwise(4096)), 'real');
    expect(rules[0]?.applied).toEqual([]);
    expect(rules[0]?.declined.map(({ reason }) => reason)).toContain('its chain is equalized as far as the rule allows');
  });

  it('does not enlarge a channel of tiny weights and a large bias as its weights alone would', () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 3, 4, 4]] },
      constants: {
        w1: scaledConstant([4, 3, 1, 1], row => (row === 3 ? 2 ** -20 : 1), 1),
        b1: floats([4], [0.1, -0.1, 0.1, 2]),
        w2: randomConstant([5, 4, 1, 1], 2),
      },
      nodes: [
        { op: 'Conv', in: ['x', 'w1', 'b1'], out: ['c'] },
        { op: 'Relu', in: ['c'], out: ['r'] },
        { op: 'Conv', in: ['r', 'w2'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    equalize(model, 'real');
    const bias = [...model.graph.values.values()].find(({ constant }) => constant?.dims.length === 1)?.constant;
    expect(Math.abs(dataOf(bias)[3] ?? 0)).toBeLessThan(2);
  });

  it.each<[string, SmallModel['nodes'], string]>([
    ['a single layer', [{ op: 'Conv', in: ['x', 'w'], out: ['y'] }], 'no layer is before it'],
    [
      'a link with two readers',
      [
        { op: 'Conv', in: ['x', 'w'], out: ['c'] },
        { op: 'Conv', in: ['c', 'v'], out: ['d'] },
        { op: 'Add', in: ['c', 'd'], out: ['y'] },
      ],
      '"c" before it has several readers',
    ],
    [
      'Sigmoid between the layers',
      [
        { op: 'Conv', in: ['x', 'w'], out: ['c'] },
        { op: 'Sigmoid', in: ['c'], out: ['s'] },
        { op: 'Conv', in: ['s', 'v'], out: ['y'] },
      ],
      'no factor per channel passes through Sigmoid',
    ],
    [
      'a shared weight',
      [
        { op: 'Conv', in: ['x', 'w'], out: ['c'] },
        { op: 'Conv', in: ['c', 'w'], out: ['y'] },
      ],
      'its weight has several readers (rule unshare-constants gives each a copy)',
    ],
  ])('declines %s', (_, nodes, reason) => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 4, 4, 4]] },
      constants: { w: randomConstant([4, 4, 1, 1], 1), v: randomConstant([4, 4, 1, 1], 2) },
      nodes,
      outputs: ['y'],
    });
    const { rules } = equalize(model, 'power-of-two');
    expect(rules[0]?.applied).toEqual([]);
    expect(rules[0]?.declined.map(entry => entry.reason)).toContain(reason);
  });

  it('declines powers of two that would make a weight subnormal', () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 2, 4, 4]] },
      constants: {
        w: scaledConstant([2, 2, 1, 1], (row, column) => (row + column === 0 ? 2 ** -126 : 1), 1),
        v: floats([2, 2, 1, 1], [2 ** -60, 1, 2 ** -60, 1]),
      },
      nodes: [
        { op: 'Conv', in: ['x', 'w'], out: ['c'] },
        { op: 'Conv', in: ['c', 'v'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    const { rules } = equalize(model, 'power-of-two');
    expect(rules[0]?.declined.map(entry => entry.reason)).toContain('a scaled weight or bias leaves the range of float32');
  });
});
