/** Rules that read ranges of calibration samples: on these samples outputs stay, and the reasons to decline. */
import { float, int, ints } from '../../../../src/onnx/ir/attribute.js';
import type { Model, ValueId } from '../../../../src/onnx/ir/model.js';
import type { SeenRange } from '../../../../src/onnx/rewrite/match.js';
import { type RewriteRecord, rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import type { Tensor } from '../../../../src/tensor/tensor.js';
import { listProblems, operators, runModel } from '../../../support/look-at-model.js';
import { floats, randomConstant, randomFloats, type SmallModel, smallModel } from '../../../support/small-model.js';

const IMAGE = [2, 3, 6, 6];
const FEEDS = { x: randomFloats(IMAGE, 1) };
const NO_RANGES = /^the range of its input is not known/;

/** Channel 0 is far above zero before the Relu, channel 1 changes sign, channel 2 is far below, channel 3 is above by less. */
const LINKED: SmallModel = {
  inputs: { x: ['float32', IMAGE] },
  constants: {
    w1: randomConstant([4, 3, 3, 3], 2),
    b1: floats([4], [100, 0.1, -100, 30]),
    w2: randomConstant([5, 4, 1, 1], 3),
    w3: randomConstant([7, 5], 4),
    b3: randomConstant([7], 5),
  },
  nodes: [
    { op: 'Conv', name: 'one', in: ['x', 'w1', 'b1'], out: ['c'], attributes: { pads: ints([1, 1, 1, 1]) } },
    { op: 'Relu', in: ['c'], out: ['r'] },
    { op: 'MaxPool', in: ['r'], out: ['m'], attributes: { kernel_shape: ints([2, 2]), strides: ints([2, 2]) } },
    { op: 'Conv', name: 'two', in: ['m', 'w2'], out: ['d'] },
    { op: 'Relu', in: ['d'], out: ['s'] },
    { op: 'GlobalAveragePool', in: ['s'], out: ['g'] },
    { op: 'Flatten', in: ['g'], out: ['f'] },
    { op: 'Gemm', name: 'three', in: ['f', 'w3', 'b3'], out: ['y'], attributes: { transB: int(1) } },
  ],
  outputs: ['y', 'c'],
};

/** Every computed value of the model as an output, by ONNX Runtime. */
async function valuesOf(given: SmallModel): Promise<Readonly<Record<string, Tensor>>> {
  return runModel(smallModel({ ...given, outputs: given.nodes.flatMap(({ out }) => out) }), FEEDS);
}

async function rangesOf(given: SmallModel, model: Model): Promise<ReadonlyMap<ValueId, SeenRange>> {
  const values = await valuesOf(given);
  return new Map(
    [...model.graph.values.values()].flatMap(({ id, name }) => {
      const tensor = values[name];
      return tensor === undefined ? [] : [[id, rangeOf(tensor)] as const];
    }),
  );
}

function rangeOf({ dims, data }: Tensor): SeenRange {
  const numbers = Array.from(data as Float32Array);
  const [, channels = 1, ...rest] = dims;
  const inner = rest.reduce((product, dim) => product * dim, 1);
  const lows = new Float32Array(channels).fill(Number.POSITIVE_INFINITY);
  for (const [at, value] of numbers.entries()) {
    const channel = Math.floor(at / inner) % channels;
    lows[channel] = Math.min(lows[channel] ?? 0, value);
  }
  return { low: Math.min(...numbers), high: Math.max(...numbers), channelLows: lows };
}

async function apply(given: SmallModel, ...names: readonly (readonly [string, string | undefined])[]) {
  const model = smallModel(given);
  const ranges = await rangesOf(given, model);
  const rules = names.map(([name, form]) => ({ rule: getRule(name, form), matches: 'any' as const }));
  const record: RewriteRecord = rewriteModel(model, { rules, edits: [], check: listProblems, ranges });
  return { model, record };
}

function difference(a: Tensor | undefined, b: Tensor | undefined): number {
  const other = b?.data as Float32Array;
  return Math.max(...Array.from(a?.data as Float32Array, (value, at) => Math.abs(value - (other[at] ?? Number.NaN))));
}

describe('absorb-biases', () => {
  // `c` is also an output in LINKED, which makes it more than a link.
  const given: SmallModel = { ...LINKED, outputs: ['y'] };

  it('keeps the outputs on the samples, and lowers channels before the Relu to zero', async () => {
    const { model, record } = await apply(given, ['absorb-biases', undefined]);
    expect(record.rules[0]?.applied.map(({ node }) => node)).toEqual([expect.stringContaining('two'), expect.stringContaining('three')]);
    expect(operators(model)).toEqual(operators(smallModel(given)));
    const before = await valuesOf(given);
    const after = await runModel(model, FEEDS);
    // Sums of up to 50 products of numbers up to 100, in float32.
    expect(difference(before.y, after.y)).toBeLessThan(1e-3);
    const exposed = smallModel(given);
    rewriteModel(exposed, {
      rules: [{ rule: getRule('absorb-biases', undefined), matches: 'any' }],
      edits: [],
      check: listProblems,
      ranges: await rangesOf(given, exposed),
    });
    exposed.graph.outputs.push(...[...exposed.graph.values.values()].filter(({ name }) => name === 'c').map(({ id }) => id));
    const lows = rangeOf((await runModel(exposed, FEEDS)).c as Tensor).channelLows ?? [];
    const [first = Number.NaN, second, , last = Number.NaN] = lows;
    expect(Math.abs(first)).toBeLessThan(1e-4);
    expect(Math.abs(last)).toBeLessThan(1e-4);
    expect(second).toBe(rangeOf(before.c as Tensor).channelLows?.[1]);
  });

  const changed = (at: number, attributes: SmallModel['nodes'][number]['attributes'] & {}, op?: string): SmallModel => ({
    ...given,
    nodes: given.nodes.map((node, index) => (index === at ? { ...node, ...(op === undefined ? {} : { op }), attributes } : node)),
  });

  it.each<[string, SmallModel, string, string]>([
    ['pads of the next layer', changed(3, { pads: ints([1, 1, 1, 1]) }), 'two', 'it pads with zeros, to which nothing can be added'],
    ['a LeakyRelu', changed(1, {}, 'LeakyRelu'), 'two', 'no Relu is behind the layer before it'],
    [
      'pads of a pool',
      changed(2, { kernel_shape: ints([2, 2]), strides: ints([2, 2]), pads: ints([0, 0, 1, 1]) }),
      'two',
      'a constant does not pass through MaxPool with pads',
    ],
    ['a factor of Gemm', changed(7, { transB: int(1), alpha: float(2) }), 'three', 'its Gemm has alpha or beta'],
    ['another reader', { ...given, outputs: ['y', 'r'] }, 'two', '"r" before it has several readers'],
    [
      'channels that are not always above zero',
      { ...given, constants: { ...given.constants, b1: floats([4], [0, 0.1, -100, 0]) } },
      'two',
      'no channel before the Relu is always above zero',
    ],
  ])('declines %s', async (_, model, node, reason) => {
    const { record } = await apply(model, ['absorb-biases', undefined]);
    expect(record.rules[0]?.declined).toContainEqual({ node: expect.stringContaining(node), reason });
  });

  it('declines without ranges, and after a rule that changed values', async () => {
    const model = smallModel(given);
    const rules = [{ rule: getRule('absorb-biases', undefined), matches: 'any' as const }];
    const [record] = rewriteModel(model, { rules, edits: [], check: listProblems }).rules;
    expect(record?.declined.at(-1)?.reason).toMatch(NO_RANGES);
    const later = await apply(given, ['equalize', 'real'], ['absorb-biases', undefined]);
    expect(later.record.rules[0]?.applied).toHaveLength(1);
    expect(later.record.rules[1]?.applied).toEqual([]);
    expect(later.record.rules[1]?.declined.at(-1)?.reason).toMatch(NO_RANGES);
  });
});

describe('clip/relu-in-range', () => {
  const clipped = (high: number): SmallModel => ({
    ...LINKED,
    constants: { ...LINKED.constants, low: floats([], [0]), high: floats([], [high]) },
    nodes: LINKED.nodes.map(node => (node.out[0] === 'r' ? { op: 'Clip', in: ['c', 'low', 'high'], out: ['r'] } : node)),
    outputs: ['y'],
  });

  it('keeps every bit on the samples, and the ranges for the next rule', async () => {
    const given = clipped(1000);
    const { model, record } = await apply(given, ['clip', 'relu-in-range'], ['absorb-biases', undefined]);
    expect(record.rules.map(({ applied }) => applied.length)).toEqual([1, 2]);
    expect(operators(model)).not.toContain('Clip');
    const alone = await apply(given, ['clip', 'relu-in-range']);
    expect((await runModel(alone.model, FEEDS)).y).toEqual((await runModel(smallModel(given), FEEDS)).y);
  });

  it('declines where a sample exceeds the bound', async () => {
    const { record } = await apply(clipped(6), ['clip', 'relu-in-range']);
    expect(record.rules[0]?.applied).toEqual([]);
    expect(record.rules[0]?.declined[0]?.reason).toMatch(/^its input was up to 1\d\d\.\d+ on the calibration samples, above the bound 6$/);
  });

  it('declines without ranges', () => {
    const model = smallModel(clipped(1000));
    const rules = [{ rule: getRule('clip', 'relu-in-range'), matches: 'any' as const }];
    expect(rewriteModel(model, { rules, edits: [], check: listProblems }).rules[0]?.declined[0]?.reason).toMatch(NO_RANGES);
  });
});
