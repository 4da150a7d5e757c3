/** Tests of the rewrite rule `channel-factors`: outputs, weight ranges, and reasons to decline. */
import { int } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { type RewriteRecord, rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { compareArrays, sqnrDbOf } from '../../../../src/tensor/compare.js';
import { listProblems, operators, runModel } from '../../../support/look-at-model.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { floats, randomConstant, randomFloats, type SmallModel, smallModel } from '../../../support/small-model.js';

const FEEDS = { x: randomFloats([1, 2, 6, 6], 4) };
/** Weights of three output channels that are 1, 2^-4.5 and 2^-9 of the largest. */
const SPREAD = [1, -0.5, 2 ** -4.5, 2 ** -6, 2 ** -9, -(2 ** -10)];

const layer = (op: 'Conv' | 'ConvTranspose'): SmallModel => ({
  inputs: { x: ['float32', [1, 2, 6, 6]] },
  constants: {
    w:
      op === 'Conv'
        ? floats([3, 2, 1, 1], SPREAD)
        : floats(
            [2, 3, 1, 1],
            [0, 2, 4, 1, 3, 5].map(at => SPREAD[at] ?? 0),
          ),
    b: floats([3], [0.5, 2 ** -6, -(2 ** -10)]),
  },
  nodes: [
    { op, in: ['x', 'w', 'b'], out: ['c'] },
    { op: 'Sigmoid', in: ['c'], out: ['y'] },
  ],
  outputs: ['c', 'y'],
});

const apply = (model: Model, form: 'mul' | 'depthwise'): RewriteRecord =>
  rewriteModel(model, { rules: [{ rule: getRule('channel-factors', form), matches: 'any' }], edits: [], check: listProblems });

describe('channel-factors', () => {
  it.each([
    ['Conv', 'mul', ['Conv', 'Mul', 'Sigmoid']],
    ['Conv', 'depthwise', ['Conv', 'Conv', 'Sigmoid']],
    ['ConvTranspose', 'mul', ['ConvTranspose', 'Mul', 'Sigmoid']],
    ['ConvTranspose', 'depthwise', ['ConvTranspose', 'Conv', 'Sigmoid']],
  ] as const)('of a %s as %s keeps every bit of the outputs', async (op, form, becomes) => {
    const model = smallModel(layer(op));
    const before = await runModel(model, FEEDS);
    apply(model, form);
    expect(await runModel(model, FEEDS)).toEqual(before);
    expect(operators(model)).toEqual(becomes);
    const factors = [...model.graph.values.values()].find(({ name }) => name === 'w_factors')?.constant;
    expect(factors?.dims).toEqual(form === 'mul' ? [3, 1, 1] : [3, 1, 1, 1]);
    expect([...new Float32Array(factors?.dtype === 'float32' ? factors.bytes.slice().buffer : new ArrayBuffer(0))]).toEqual([
      1,
      2 ** -4,
      2 ** -6,
    ]);
    const [again] = apply(model, form).rules;
    expect(again?.applied).toEqual([]);
    expect(again?.declined.map(({ reason }) => reason)).toEqual([
      'channel factors multiply its output already',
      ...(form === 'mul' ? [] : ['its weights are channel factors']),
    ]);
  });

  it('of a Gemm is a Mul per column', async () => {
    const model = smallModel({
      inputs: { x: ['float32', [4, 2]] },
      constants: { w: floats([2, 3], [1, 2 ** -5, 1, 0.5, 2 ** -5, 1]) },
      nodes: [{ op: 'Gemm', in: ['x', 'w'], out: ['y'] }],
      outputs: ['y'],
    });
    const feeds = { x: randomFloats([4, 2], 1) };
    const before = await runModel(model, feeds);
    const { rules } = apply(model, 'depthwise');
    expect(rules[0]?.declined.map(({ reason }) => reason)).toEqual(['the output of a Gemm has no height and width: use the form mul']);
    apply(model, 'mul');
    expect(operators(model)).toEqual(['Gemm', 'Mul']);
    expect(await runModel(model, feeds)).toEqual(before);
  });

  it('lets small channels keep their precision with one int8 scale per tensor', async () => {
    const [plain, factored] = [smallModel(layer('Conv')), smallModel(layer('Conv'))];
    apply(factored, 'mul');
    const scheme = PRESETS.a16w8;
    const expected = (await runModel(plain, FEEDS)).c?.data as Float32Array;
    const sqnrOf = async (model: Model, channel: number): Promise<number> => {
      const found = (await runModel(await quantizeOn(model, FEEDS, scheme), FEEDS)).c?.data as Float32Array;
      return sqnrDbOf(compareArrays(expected.subarray(36 * channel, 36 * channel + 36), found.subarray(36 * channel, 36 * channel + 36)));
    };
    expect(await sqnrOf(plain, 1)).toBeLessThan(30);
    expect(await sqnrOf(factored, 1)).toBeGreaterThan(35);
  });

  it('declines weights of like ranges', () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 4, 4, 4]] },
      constants: { w: floats([4, 1, 1, 1], [1, -1.5, 1.25, 1.75]) },
      nodes: [{ op: 'Conv', in: ['x', 'w'], out: ['y'], attributes: { group: int(4) } }],
      outputs: ['y'],
    });
    expect(apply(model, 'mul').rules[0]?.declined.map(({ reason }) => reason)).toEqual(['the weights of its channels have like ranges']);
  });

  it('declines a shared weight', () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 2, 4, 4]] },
      constants: { w: randomConstant([2, 2, 1, 1]) },
      nodes: [
        { op: 'Conv', in: ['x', 'w'], out: ['c'] },
        { op: 'Conv', in: ['c', 'w'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    const reason = 'its weight has several readers (rule unshare-constants gives each a copy)';
    expect(apply(model, 'mul').rules[0]?.declined.map(entry => entry.reason)).toEqual([reason, reason]);
  });
});
