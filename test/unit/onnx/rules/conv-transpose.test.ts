/** Tests of the rewrite rule `conv-transpose-depth-to-space`. */
import { float, int, ints, string } from '../../../../src/onnx/ir/attribute.js';
import type { Attribute, Model } from '../../../../src/onnx/ir/model.js';
import { rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import { findRuleProblem } from '../../../../src/onnx/rules/rule-table.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { listProblems, nodesOf, operators, runModel, valueNames } from '../../../support/look-at-model.js';
import { randomConstant, randomFloats, type SmallModel, type SmallNode, smallModel } from '../../../support/small-model.js';

interface Given {
  readonly opset?: number;
  readonly weight?: readonly number[];
  readonly bias?: 'with' | 'without';
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly after?: readonly SmallNode[];
  readonly outputs?: readonly string[];
  readonly constants?: SmallModel['constants'];
}

const DOUBLE = { strides: ints([2, 2]) };

function given({
  opset = 17,
  weight = [3, 5, 2, 2],
  bias = 'with',
  attributes = DOUBLE,
  after = [],
  outputs,
  constants,
}: Given = {}): Model {
  return smallModel({
    opset,
    inputs: { x: ['float32', [2, weight[0] ?? 1, ...weight.slice(2).map((_, axis) => 4 + axis)]] },
    constants: { w: randomConstant(weight, 3), b: randomConstant([weight[1] ?? 1], 4), ...constants },
    nodes: [
      { op: 'Neg', in: ['x'], out: ['before'] },
      { op: 'ConvTranspose', name: 'head/up', in: bias === 'with' ? ['before', 'w', 'b'] : ['before', 'w'], out: ['up'], attributes },
      ...after,
    ],
    outputs: outputs ?? [after.at(-1)?.out[0] ?? 'up'],
  });
}

const apply = (model: Model, matches: 'one' | 'any' = 'one') =>
  rewriteModel(model, { rules: [{ rule: getRule('conv-transpose-depth-to-space', undefined), matches }], edits: [], check: listProblems });

const feeds = (weight: readonly number[] = [3, 5, 2, 2]) => ({ x: randomFloats([2, weight[0] ?? 1, 4, 5]) });

describe('conv-transpose-depth-to-space', () => {
  it.each<[string, Given]>([
    ['2×2 with a bias', {}],
    ['2×2 without a bias', { bias: 'without' }],
    ['3×3', { weight: [3, 2, 3, 3], attributes: { strides: ints([3, 3]), kernel_shape: ints([3, 3]), dilations: ints([1, 1]) } }],
    ['1×1', { weight: [4, 2, 1, 1], attributes: {} }],
    ['auto_pad, which then pads nothing', { attributes: { ...DOUBLE, auto_pad: string('SAME_UPPER') } }],
    ['opset 9, where DepthToSpace has no mode', { opset: 9 }],
  ])('gives the same bytes: %s', async (_, what) => {
    const model = given(what);
    const { rules } = apply(model);
    expect(operators(model)).toEqual(['Neg', 'Conv', 'DepthToSpace']);
    expect(rules[0]).toMatchObject({ proof: 'exact', applied: [{ node: 'ConvTranspose "head/up"', values: ['up'] }] });
    expect(await runModel(model, feeds(what.weight))).toEqual(await runModel(given(what), feeds(what.weight)));
  });

  it.each<[string, Partial<SmallNode>]>([
    ['Relu', {}],
    ['LeakyRelu', { attributes: { alpha: float(0.125) } }],
    ['Clip', { in: ['up', 'low', 'high'] }],
    ['HardSigmoid', {}],
  ])('moves %s, which alone reads the output, in front of DepthToSpace', async (op, change) => {
    const constants = { low: randomConstant([], 1), high: randomConstant([], 9) };
    const what: Given = { after: [{ op, name: 'act', in: ['up'], out: ['y'], ...change }], constants };
    const model = given(what);
    const { rules } = apply(model);
    expect(operators(model)).toEqual(['Neg', 'Conv', op, 'DepthToSpace']);
    expect(nodesOf(model).map(node => node.name)).toEqual(['before', 'head/up/conv', 'act', 'head/up']);
    expect(valueNames(model)).not.toContain('up');
    expect(rules[0]?.applied[0]?.removed).toEqual([`${op} act`, 'ConvTranspose head/up']);
    expect(await runModel(model, feeds())).toEqual(await runModel(given(what), feeds()));
  });

  it.each<[string, Given]>([
    ['it is an output of the model', { after: [{ op: 'Relu', in: ['up'], out: ['y'] }], outputs: ['y', 'up'] }],
    [
      'another node reads the output',
      {
        after: [
          { op: 'Relu', in: ['up'], out: ['r'] },
          { op: 'Add', in: ['r', 'up'], out: ['y'] },
        ],
      },
    ],
    [
      'a bound of Clip is computed',
      {
        after: [
          { op: 'ReduceMin', in: ['x'], out: ['low'], attributes: { keepdims: int(0) } },
          { op: 'Clip', in: ['up', 'low'], out: ['y'] },
        ],
      },
    ],
  ])('leaves an activation where it is: %s', async (_, what) => {
    const model = given(what);
    apply(model);
    expect(operators(model).slice(0, 3)).toEqual(['Neg', 'Conv', 'DepthToSpace']);
    expect(await runModel(model, feeds())).toEqual(await runModel(given(what), feeds()));
  });

  it.each<[string, Given, string]>([
    ['an overlap', { attributes: { strides: ints([1, 1]) } }, 'its strides are [1, 1] and its kernel is [2, 2]: they must be equal'],
    [
      'a kernel that is no square',
      { weight: [3, 5, 2, 3], attributes: { strides: ints([2, 3]) } },
      'its kernel is [2, 3]; DepthToSpace needs a square kernel',
    ],
    ['pads', { attributes: { ...DOUBLE, pads: ints([0, 0, 1, 1]) } }, 'it has pads'],
    ['output_padding', { attributes: { ...DOUBLE, output_padding: ints([1, 1]) } }, 'it has output_padding'],
    ['output_shape', { attributes: { ...DOUBLE, output_shape: ints([7, 9]) } }, 'it has output_shape'],
    ['groups', { attributes: { ...DOUBLE, group: int(3) } }, 'it has 3 groups'],
    ['dilations', { attributes: { ...DOUBLE, dilations: ints([2, 2]) } }, 'it has dilations'],
    ['one dimension', { weight: [3, 5, 2], attributes: { strides: ints([2]) } }, 'the rank of its weight is 3, not 4'],
  ])('declines %s', (_, what, reason) => {
    const model = given({ bias: 'without', ...what });
    const { rules } = apply(model, 'any');
    expect(rules[0]?.declined).toEqual([{ node: 'ConvTranspose "head/up"', reason }]);
    expect(operators(model)).toEqual(['Neg', 'ConvTranspose']);
  });

  it('reports that the weight is computed', () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 3, 4, 4]], w: ['float32', [3, 5, 2, 2]] },
      nodes: [{ op: 'ConvTranspose', in: ['x', 'w'], out: ['y'], attributes: DOUBLE }],
      outputs: ['y'],
    });
    expect(apply(model, 'any').rules[0]?.declined.map(({ reason }) => reason)).toEqual([
      'its weight is neither constant nor quantized per tensor or per channel',
    ]);
  });

  it('has no forms', () => {
    expect(findRuleProblem('conv-transpose-depth-to-space', undefined)).toBeUndefined();
    expect(findRuleProblem('conv-transpose-depth-to-space', '3x3')).toMatchObject({ code: 'unknown-form' });
  });
});
