/** Tests of the rules of simplify. */
import { float, int, ints, string } from '../../../../src/onnx/ir/attribute.js';
import { viewModel } from '../../../../src/onnx/rewrite/graph-view.js';
import { applyRule } from '../../../../src/onnx/rewrite/rewriter.js';
import type { RewriteRule } from '../../../../src/onnx/rewrite/rule.js';
import { cancelTransposes } from '../../../../src/onnx/rules/simplify/cancel-transposes.js';
import { foldBatchNormalization } from '../../../../src/onnx/rules/simplify/fold-batch-normalization.js';
import { CHANNEL_AFFINE_RULES } from '../../../../src/onnx/rules/simplify/fold-channel-affine.js';
import { foldPad, foldPoolPad } from '../../../../src/onnx/rules/simplify/fold-pad.js';
import { fuseGelu } from '../../../../src/onnx/rules/simplify/fuse-gelu.js';
import { fuseGemm } from '../../../../src/onnx/rules/simplify/fuse-gemm.js';
import { fuseInstanceNorm } from '../../../../src/onnx/rules/simplify/fuse-instance-norm.js';
import { fuseL2Normalization } from '../../../../src/onnx/rules/simplify/fuse-l2-normalization.js';
import { fuseLayerNorm } from '../../../../src/onnx/rules/simplify/fuse-layer-norm.js';
import { mergeConcats } from '../../../../src/onnx/rules/simplify/merge-concats.js';
import { fixReshape, mergeReshapes, mergeTransposes, reshapeBeforeTranspose } from '../../../../src/onnx/rules/simplify/merge-reshapes.js';
import { mergeSlices } from '../../../../src/onnx/rules/simplify/merge-slices.js';
import { NO_OP_RULES } from '../../../../src/onnx/rules/simplify/no-ops.js';
import {
  removeAddZero,
  removeDivideByOne,
  removeMultiplyByOne,
  removeSubtractZero,
} from '../../../../src/onnx/rules/simplify/remove-unit-factor.js';
import { scalarRange } from '../../../../src/onnx/rules/simplify/scalar-range.js';
import { sliceChannels } from '../../../../src/onnx/rules/simplify/slice-channels.js';
import { splitBatchNormalization } from '../../../../src/onnx/rules/simplify/split-batch-normalization.js';
import { compareArrays } from '../../../../src/tensor/compare.js';
import { listProblems, operators, runModel } from '../../../support/look-at-model.js';
import {
  floats,
  integers,
  randomConstant,
  randomFloats,
  type SmallModel,
  type SmallNode,
  smallModel,
} from '../../../support/small-model.js';

const ALL = [
  ...NO_OP_RULES,
  ...CHANNEL_AFFINE_RULES,
  removeMultiplyByOne,
  removeDivideByOne,
  removeAddZero,
  removeSubtractZero,
  mergeTransposes,
  cancelTransposes,
  mergeReshapes,
  reshapeBeforeTranspose,
  fixReshape,
  foldBatchNormalization,
  foldPad,
  foldPoolPad,
  fuseGelu,
  fuseGemm,
  fuseInstanceNorm,
  fuseL2Normalization,
  fuseLayerNorm,
  mergeConcats,
  mergeSlices,
  scalarRange,
  sliceChannels,
  splitBatchNormalization,
];

function ruleNamed(name: string): RewriteRule {
  const rule = ALL.find(candidate => candidate.name === name);
  if (rule === undefined) throw new Error(`no rule ${name}`);
  return rule;
}

interface Case {
  readonly name: string;
  readonly rule: string;
  readonly dims?: readonly number[];
  readonly opset?: number;
  readonly constants?: SmallModel['constants'];
  /** Between `Neg` of the input, "a", and `Neg` of "b". */
  readonly nodes: readonly SmallNode[];
}

const given = ({ dims = [2, 4, 5, 6], opset = 17, constants = {}, nodes }: Omit<Case, 'name' | 'rule'>) =>
  smallModel({
    opset,
    inputs: { x: ['float32', dims] },
    constants,
    nodes: [{ op: 'Neg', in: ['x'], out: ['a'] }, ...nodes, { op: 'Neg', in: ['b'], out: ['y'] }],
    outputs: ['y'],
  });

const CONV = { w: randomConstant([3, 4, 3, 3], 2), bias: randomConstant([3], 3) };
const BN = {
  gamma: floats([3], [1.5, -0.5, 2]),
  beta: floats([3], [0.1, 0.2, -3]),
  mean: floats([3], [0.3, -1, 0.5]),
  variance: floats([3], [0.5, 2, 0.01]),
};
const BN_INPUTS = ['gamma', 'beta', 'mean', 'variance'];
const conv = (extra: Partial<SmallNode> = {}): SmallNode => ({ op: 'Conv', in: ['a', 'w', 'bias'], out: ['c'], ...extra });
const batchNormalization: SmallNode = {
  op: 'BatchNormalization',
  in: ['c', ...BN_INPUTS],
  out: ['b'],
  attributes: { epsilon: float(1e-3) },
};

/** Four channels of one Conv and two of another. */
const JOINED = {
  w: randomConstant([4, 4, 1, 1], 2),
  v: randomConstant([4, 2, 1, 1], 3),
  gamma: randomConstant([6], 4),
  beta: randomConstant([6], 5),
  mean: randomConstant([6], 6),
  variance: floats([6], [0.5, 2, 0.01, 1, 3, 0.2]),
};
const JOINED_NODES: readonly SmallNode[] = [
  { op: 'Conv', in: ['a', 'w'], out: ['l'] },
  { op: 'ConvTranspose', in: ['a', 'v'], out: ['r'] },
  { op: 'Concat', in: ['l', 'r'], out: ['c'], attributes: { axis: int(-3) } },
  { ...batchNormalization },
];

const EXACT: readonly (Case & { readonly left: readonly string[] })[] = [
  { name: 'Identity', rule: 'remove-identity', nodes: [{ op: 'Identity', in: ['a'], out: ['b'] }], left: [] },
  { name: 'Dropout', rule: 'remove-dropout', nodes: [{ op: 'Dropout', in: ['a'], out: ['b'] }], left: [] },
  {
    name: 'Cast to the same type',
    rule: 'remove-cast',
    nodes: [{ op: 'Cast', in: ['a'], out: ['b'], attributes: { to: int(1) } }],
    left: [],
  },
  {
    name: 'Reshape to the same shape',
    rule: 'remove-reshape',
    constants: { s: integers([2, -1, 5, 6]) },
    nodes: [{ op: 'Reshape', in: ['a', 's'], out: ['b'] }],
    left: [],
  },
  { name: 'Flatten of a matrix', rule: 'remove-reshape', dims: [2, 3], nodes: [{ op: 'Flatten', in: ['a'], out: ['b'] }], left: [] },
  {
    name: 'Transpose that moves nothing',
    rule: 'remove-transpose',
    nodes: [{ op: 'Transpose', in: ['a'], out: ['b'], attributes: { perm: ints([0, 1, 2, 3]) } }],
    left: [],
  },
  {
    name: 'Concat of one',
    rule: 'remove-join-of-one',
    nodes: [{ op: 'Concat', in: ['a'], out: ['b'], attributes: { axis: int(1) } }],
    left: [],
  },
  {
    name: 'Pad by nothing',
    rule: 'remove-pad',
    constants: { p: integers([0, 0, 0, 0, 0, 0, 0, 0]) },
    nodes: [{ op: 'Pad', in: ['a', 'p'], out: ['b'] }],
    left: [],
  },
  {
    name: 'Slice of everything',
    rule: 'remove-slice',
    constants: { from: integers([0]), to: integers([99]), axis: integers([2]) },
    nodes: [{ op: 'Slice', in: ['a', 'from', 'to', 'axis'], out: ['b'] }],
    left: [],
  },
  {
    name: 'MaxPool over single elements',
    rule: 'remove-pool',
    nodes: [{ op: 'MaxPool', in: ['a'], out: ['b'], attributes: { kernel_shape: ints([1, 1]) } }],
    left: [],
  },
  {
    name: 'Mul by 1',
    rule: 'remove-multiply-by-one',
    constants: { one: floats([], [1]) },
    nodes: [{ op: 'Mul', in: ['one', 'a'], out: ['b'] }],
    left: [],
  },
  {
    name: 'Div by 1',
    rule: 'remove-divide-by-one',
    constants: { one: floats([1], [1]) },
    nodes: [{ op: 'Div', in: ['a', 'one'], out: ['b'] }],
    left: [],
  },
  {
    name: 'Transpose of Transpose',
    rule: 'merge-transposes',
    nodes: [
      { op: 'Transpose', in: ['a'], out: ['t'], attributes: { perm: ints([0, 2, 3, 1]) } },
      { op: 'Transpose', in: ['t'], out: ['b'], attributes: { perm: ints([3, 0, 2, 1]) } },
    ],
    left: ['Transpose'],
  },
  {
    name: 'Reshape of Flatten',
    rule: 'merge-reshapes',
    constants: { s: integers([4, 60]) },
    nodes: [
      { op: 'Flatten', in: ['a'], out: ['f'] },
      { op: 'Reshape', in: ['f', 's'], out: ['b'] },
    ],
    left: ['Reshape'],
  },
  {
    name: 'Transpose that moves only dims of size 1, and Reshape',
    rule: 'merge-reshapes',
    dims: [1, 4, 1, 6],
    constants: { s: integers([2, 12]) },
    nodes: [
      { op: 'Transpose', in: ['a'], out: ['t'], attributes: { perm: ints([2, 1, 0, 3]) } },
      { op: 'Reshape', in: ['t', 's'], out: ['b'] },
    ],
    left: ['Reshape'],
  },
  {
    name: 'Reshape that adds a dim of size 1 behind a Transpose',
    rule: 'reshape-before-transpose',
    dims: [5, 24],
    constants: { heads: integers([5, 4, 6]), batch: integers([1, 4, 5, 6]) },
    nodes: [
      { op: 'Reshape', in: ['a', 'heads'], out: ['r'] },
      { op: 'Transpose', in: ['r'], out: ['t'], attributes: { perm: ints([1, 0, 2]) } },
      { op: 'Reshape', in: ['t', 'batch'], out: ['b'] },
    ],
    left: ['Reshape', 'Transpose'],
  },
  {
    name: 'Squeeze and Unsqueeze around a Transpose of equal dims',
    rule: 'reshape-before-transpose',
    dims: [3, 2, 3, 2],
    constants: { first: integers([0, 3]), middle: integers([3]) },
    nodes: [
      { op: 'Unsqueeze', in: ['a', 'first'], out: ['r'] },
      { op: 'Transpose', in: ['r'], out: ['t'], attributes: { perm: ints([0, 4, 2, 3, 5, 1]) } },
      { op: 'Squeeze', in: ['t', 'middle'], out: ['b'] },
    ],
    left: ['Reshape', 'Transpose'],
  },
  {
    name: 'Sub of 0',
    rule: 'remove-subtract-zero',
    constants: { zero: floats([], [0]) },
    nodes: [{ op: 'Sub', in: ['a', 'zero'], out: ['b'] }],
    left: [],
  },
  {
    name: 'Slice of Slice, other axes',
    rule: 'merge-slices',
    constants: { one: integers([1]), four: integers([-1]), two: integers([2]), three: integers([3]), end: integers([2 ** 40]) },
    nodes: [
      { op: 'Slice', in: ['a', 'one', 'four', 'two'], out: ['s'] },
      { op: 'Slice', in: ['s', 'two', 'end', 'three', 'two'], out: ['b'] },
    ],
    left: ['Slice'],
  },
  {
    name: 'Slice of Slice, one axis with steps',
    rule: 'merge-slices',
    dims: [2, 40],
    constants: { one: integers([1]), end: integers([-2]), two: integers([2]), three: integers([3]), axis: integers([-1]) },
    nodes: [
      { op: 'Slice', in: ['a', 'one', 'end', 'axis', 'two'], out: ['s'] },
      { op: 'Slice', in: ['s', 'two', 'end', 'axis', 'three'], out: ['b'] },
    ],
    left: ['Slice'],
  },
  {
    name: 'opposite Transposes around Slice and Clip',
    rule: 'cancel-transposes',
    constants: { from: integers([1, 0]), to: integers([2 ** 40, -2]), axes: integers([-1, 1]), low: { ...floats([1], [-0.5]), dims: [] } },
    nodes: [
      { op: 'Transpose', in: ['a'], out: ['t'], attributes: { perm: ints([0, 2, 3, 1]) } },
      { op: 'Slice', in: ['t', 'from', 'to', 'axes'], out: ['s'] },
      { op: 'Clip', in: ['s', 'low'], out: ['r'] },
      { op: 'Transpose', in: ['r'], out: ['b'], attributes: { perm: ints([0, 3, 1, 2]) } },
    ],
    left: ['Slice', 'Clip'],
  },
  {
    name: 'opposite Transposes, the first with another reader',
    rule: 'cancel-transposes',
    dims: [3, 3],
    nodes: [
      { op: 'Transpose', in: ['a'], out: ['t'] },
      { op: 'Relu', in: ['t'], out: ['r'] },
      { op: 'Transpose', in: ['r'], out: ['u'] },
      { op: 'Add', in: ['t', 'u'], out: ['b'] },
    ],
    left: ['Transpose', 'Relu', 'Add'],
  },
  ...[1, -2].map(index => ({
    name: `Gather ${index} of shuffled channels`,
    rule: 'slice-channels',
    dims: [1, 6, 4, 5],
    constants: { divide: integers([3, 2, 20]), join: integers([2, -1, 3, 4, 5]), index: { ...integers([index]), dims: [] } },
    nodes: [
      { op: 'Reshape', in: ['a', 'divide'], out: ['d'] },
      { op: 'Transpose', in: ['d'], out: ['t'], attributes: { perm: ints([1, 0, 2]) } },
      { op: 'Reshape', in: ['t', 'join'], out: ['j'] },
      { op: 'Gather', in: ['j', 'index'], out: ['b'], attributes: { axis: int(0) } },
    ],
    left: ['Slice'],
  })),
  {
    name: 'Range of vectors',
    rule: 'scalar-range',
    dims: [4],
    constants: { zero: { ...integers([0]), dims: [] }, one: { ...integers([1]), dims: [] } },
    nodes: [
      { op: 'Shape', in: ['a'], out: ['size'] },
      // ONNX Runtime refuses a vector whose elements it knows while it loads the model.
      { op: 'Abs', in: ['size'], out: ['count'] },
      { op: 'Range', in: ['zero', 'count', 'one'], out: ['places'] },
      { op: 'Gather', in: ['a', 'places'], out: ['b'] },
    ],
    left: ['Shape', 'Abs', 'Squeeze', 'Range', 'Gather'],
  },
  {
    name: 'BatchNormalization of joined Convs',
    rule: 'split-batch-normalization',
    constants: { ...JOINED },
    nodes: JOINED_NODES,
    left: ['Conv', 'ConvTranspose', 'BatchNormalization', 'BatchNormalization', 'Concat'],
  },
  {
    name: 'Concat of Concat',
    rule: 'merge-concats',
    nodes: [
      { op: 'Relu', in: ['a'], out: ['r'] },
      { op: 'Concat', in: ['r', 'a'], out: ['c'], attributes: { axis: int(-3) } },
      { op: 'Concat', in: ['a', 'c', 'r'], out: ['b'], attributes: { axis: int(1) } },
    ],
    left: ['Relu', 'Concat'],
  },
];

const GELU_CONSTANTS = {
  root: floats([], [Math.SQRT2]),
  inverse: floats([], [Math.SQRT1_2]),
  one: floats([], [1]),
  half: floats([1], [0.5]),
};
const NORM_CONSTANTS = { two: floats([], [2]), eps: floats([], [1e-3]), gamma: randomConstant([5, 6], 2), beta: randomConstant([5, 6], 3) };

function normalization(axes: readonly number[], gamma: string, beta: string, square: 'Pow' | 'Mul' = 'Mul'): readonly SmallNode[] {
  return [
    { op: 'ReduceMean', in: ['a'], out: ['mean'], attributes: { axes: ints(axes) } },
    { op: 'Sub', in: ['a', 'mean'], out: ['centered'] },
    { op: square, in: ['centered', square === 'Pow' ? 'two' : 'centered'], out: ['square'] },
    { op: 'ReduceMean', in: ['square'], out: ['variance'], attributes: { axes: ints(axes) } },
    { op: 'Add', in: ['variance', 'eps'], out: ['shifted'] },
    { op: 'Sqrt', in: ['shifted'], out: ['deviation'] },
    { op: 'Div', in: ['centered', 'deviation'], out: ['normal'] },
    { op: 'Mul', in: ['normal', gamma], out: ['scaled'] },
    { op: 'Add', in: ['scaled', beta], out: ['b'] },
  ];
}

const ROUNDING: readonly (Case & { readonly left: readonly string[] })[] = [
  {
    name: 'Add of 0',
    rule: 'remove-add-zero',
    constants: { zero: floats([1, 4, 1, 1], [0, 0, 0, 0]) },
    nodes: [{ op: 'Add', in: ['zero', 'a'], out: ['b'] }],
    left: [],
  },
  {
    name: 'Conv and BatchNormalization',
    rule: 'fold-batch-normalization',
    constants: { ...CONV, ...BN },
    nodes: [conv(), batchNormalization],
    left: ['Conv'],
  },
  {
    name: 'Conv without bias and BatchNormalization',
    rule: 'fold-batch-normalization',
    constants: { ...CONV, ...BN },
    nodes: [conv({ in: ['a', 'w'] }), batchNormalization],
    left: ['Conv'],
  },
  {
    name: 'ConvTranspose in groups and BatchNormalization',
    rule: 'fold-batch-normalization',
    constants: {
      w: randomConstant([4, 2, 2, 3], 5),
      gamma: floats([4], [1, 2, 3, 4]),
      beta: floats([4], [0, 1, 0, 1]),
      mean: floats([4], [0.1, 0.2, 0.3, 0.4]),
      variance: floats([4], [1, 2, 1, 0.5]),
    },
    nodes: [{ op: 'ConvTranspose', in: ['a', 'w'], out: ['c'], attributes: { group: int(2), strides: ints([2, 2]) } }, batchNormalization],
    left: ['ConvTranspose'],
  },
  ...[0, 1].map(transB => ({
    name: `Gemm (transB ${transB}) and BatchNormalization`,
    rule: 'fold-batch-normalization',
    dims: [5, 4],
    constants: { ...BN, w: randomConstant(transB === 0 ? [4, 3] : [3, 4], 7), bias: randomConstant([3], 8) },
    nodes: [{ op: 'Gemm', in: ['a', 'w', 'bias'], out: ['c'], attributes: { transB: int(transB) } }, batchNormalization],
    left: ['Gemm'],
  })),
  ...(['Add', 'Sub', 'Mul', 'Div'] as const).map(op => ({
    name: `Conv and ${op} per channel`,
    rule: `fold-channel-${op.toLowerCase()}`,
    constants: { ...CONV, k: floats([1, 3, 1, 1], [0.5, -2, 3]) },
    nodes: [conv(), { op, in: ['c', 'k'], out: ['b'] }],
    left: ['Conv'],
  })),
  {
    name: 'Add of a constant of lower rank on the left',
    rule: 'fold-channel-add',
    constants: { ...CONV, k: floats([3, 1, 1], [0.5, -2, 3]) },
    nodes: [conv({ in: ['a', 'w'] }), { op: 'Add', in: ['k', 'c'], out: ['b'] }],
    left: ['Conv'],
  },
  {
    name: 'Pad by zeros and Conv',
    rule: 'fold-pad',
    constants: { ...CONV, p: integers([0, 0, 1, 2, 0, 0, 3, 0]) },
    nodes: [
      { op: 'Pad', in: ['a', 'p'], out: ['padded'] },
      { op: 'Conv', in: ['padded', 'w', 'bias'], out: ['b'], attributes: { pads: ints([1, 0, 0, 1]), strides: ints([2, 1]) } },
    ],
    left: ['Conv'],
  },
  ...(
    [
      ['AveragePool', 0, {}],
      ['AveragePool', 0, { count_include_pad: int(1), pads: ints([1, 0, 0, 1]) }],
      ['MaxPool', Number.NEGATIVE_INFINITY, { pads: ints([0, 1, 1, 0]) }],
    ] as const
  ).map(([op, value, attributes]) => ({
    name: `Pad by ${value} and ${op} with ${Object.keys(attributes).join(' and ') || 'nothing else'}`,
    rule: 'fold-pool-pad',
    constants: { p: integers([0, 0, 1, 1, 0, 0, 1, 1]), value: floats([], [value]) },
    nodes: [
      { op: 'Pad', in: ['a', 'p', 'value'], out: ['padded'] },
      { op, in: ['padded'], out: ['b'], attributes: { kernel_shape: ints([3, 3]), strides: ints([2, 1]), ...attributes } },
    ],
    left: [op],
  })),
  {
    name: 'MatMul and Add',
    rule: 'fuse-gemm',
    dims: [5, 4],
    constants: { w: randomConstant([4, 3], 7), k: randomConstant([1, 3], 8) },
    nodes: [
      { op: 'MatMul', in: ['a', 'w'], out: ['c'] },
      { op: 'Add', in: ['k', 'c'], out: ['b'] },
    ],
    left: ['Gemm'],
  },
  ...(
    [
      [
        'x · (1 + erf) · ½',
        ['Div', 'a', 'root'],
        [
          ['Mul', 'a', 'sum', 'p'],
          ['Mul', 'p', 'half', 'b'],
        ],
      ],
      [
        '½ · (x · (1 + erf))',
        ['Mul', 'inverse', 'a'],
        [
          ['Mul', 'sum', 'a', 'p'],
          ['Mul', 'half', 'p', 'b'],
        ],
      ],
      [
        '(½ · x) · (1 + erf)',
        ['Div', 'a', 'root'],
        [
          ['Mul', 'half', 'a', 'p'],
          ['Mul', 'p', 'sum', 'b'],
        ],
      ],
      [
        'x · ((1 + erf) · ½)',
        ['Div', 'a', 'root'],
        [
          ['Mul', 'sum', 'half', 'p'],
          ['Mul', 'a', 'p', 'b'],
        ],
      ],
    ] as const
  ).map(([name, [scale, left, right], products]) => ({
    name: `Gelu as ${name}`,
    rule: 'fuse-gelu',
    opset: 20,
    constants: GELU_CONSTANTS,
    nodes: [
      { op: scale, in: [left, right], out: ['scaled'] },
      { op: 'Erf', in: ['scaled'], out: ['erf'] },
      { op: 'Add', in: ['erf', 'one'], out: ['sum'] },
      ...products.map(([op, first, second, out]) => ({ op, in: [first, second], out: [out] })),
    ],
    left: ['Gelu'],
  })),
  ...(['Pow', 'Mul'] as const).map(square => ({
    name: `LayerNormalization with ${square}`,
    rule: 'fuse-layer-norm',
    constants: NORM_CONSTANTS,
    nodes: normalization([-2, -1], 'gamma', 'beta', square),
    left: ['LayerNormalization'],
  })),
  {
    name: 'InstanceNormalization',
    rule: 'fuse-instance-norm',
    constants: { ...NORM_CONSTANTS, scale: randomConstant([4, 1, 1], 5), shift: randomConstant([1, 4, 1, 1], 6) },
    nodes: normalization([2, -1], 'scale', 'shift'),
    left: ['InstanceNormalization'],
  },
  ...(['n', 'e'] as const).map(divisor => ({
    name: `LpNormalization ${divisor === 'e' ? 'behind Expand' : ''}`,
    rule: 'fuse-l2-normalization',
    constants: { least: floats([], [1e-12]), shape: integers([2, 4, 5, 6]) },
    nodes: [
      { op: 'ReduceL2', in: ['a'], out: ['l'], attributes: { axes: ints([1]) } },
      { op: 'Clip', in: ['l', 'least'], out: ['n'] },
      ...(divisor === 'e' ? [{ op: 'Expand', in: ['n', 'shape'], out: ['e'] }] : []),
      { op: 'Div', in: ['a', divisor], out: ['b'] },
    ],
    left: ['LpNormalization'],
  })),
];

async function outputs(testCase: Case): Promise<{ before: Float32Array; after: Float32Array; operators: string[] }> {
  const x = randomFloats(testCase.dims ?? [2, 4, 5, 6], 11);
  const model = given(testCase);
  const before = (await runModel(model, { x })).y?.data as Float32Array;
  const { record } = applyRule(viewModel(model), ruleNamed(testCase.rule), { check: listProblems });
  expect(record.applied).toHaveLength(1);
  return { before, after: (await runModel(model, { x })).y?.data as Float32Array, operators: operators(model).slice(1, -1) };
}

describe('exact rules', () => {
  it.each(EXACT.map(testCase => [testCase.name, testCase] as const))('%s: every bit stays', async (_, testCase) => {
    const result = await outputs(testCase);
    expect(result.operators).toEqual(testCase.left);
    expect(new Uint32Array(result.after.buffer)).toEqual(new Uint32Array(result.before.buffer));
  });
});

/** Sums of 36 products of numbers near 1: an error of a few ulps of the largest term. */
const TOLERANCE = 2e-5;

describe('rounding rules', () => {
  it.each(ROUNDING.map(testCase => [testCase.name, testCase] as const))('%s: within a few ulps', async (_, testCase) => {
    const result = await outputs(testCase);
    expect(result.operators).toEqual(testCase.left);
    expect(compareArrays(result.before, result.after).maxAbs).toBeLessThan(TOLERANCE);
  });
});

const DECLINES: readonly (Case & { readonly reason: string })[] = [
  {
    name: 'BatchNormalization of a joined Relu',
    rule: 'split-batch-normalization',
    constants: JOINED,
    nodes: [
      ...JOINED_NODES.slice(0, 1),
      { op: 'ConvTranspose', in: ['a', 'v'], out: ['q'] },
      { op: 'Relu', in: ['q'], out: ['r'] },
      ...JOINED_NODES.slice(2),
    ],
    reason: '"r" does not come from Conv, ConvTranspose, Gemm',
  },
  {
    name: 'A norm along one axis that may be 0',
    rule: 'fuse-l2-normalization',
    nodes: [
      { op: 'ReduceL2', in: ['a'], out: ['n'], attributes: { axes: ints([1]) } },
      { op: 'Div', in: ['a', 'n'], out: ['b'] },
    ],
    reason: 'its divisor is not the L2 norm of its dividend with a lower bound of at most 1e-12',
  },
  {
    name: 'A normalization over channels',
    rule: 'fuse-instance-norm',
    constants: NORM_CONSTANTS,
    nodes: normalization([1], 'gamma', 'beta'),
    reason: 'it does not normalize over all axes after the channels',
  },
  {
    name: 'Mul after a Gemm whose bias is one value per row',
    rule: 'fold-channel-mul',
    dims: [3, 4],
    constants: { w: randomConstant([4, 3]), bias: randomConstant([3, 1]), k: floats([3], [1, 2, 3]) },
    nodes: [
      { op: 'Gemm', in: ['a', 'w', 'bias'], out: ['c'] },
      { op: 'Mul', in: ['c', 'k'], out: ['b'] },
    ],
    reason: 'the bias of the Gemm is not one value per channel',
  },
  {
    name: 'Mul by a constant with more axes',
    rule: 'fold-channel-mul',
    constants: { ...CONV, k: floats([1, 1, 1, 1, 1], [2]) },
    nodes: [conv(), { op: 'Mul', in: ['c', 'k'], out: ['b'] }],
    reason: 'the constant [1, 1, 1, 1, 1] is not one value per channel',
  },
  {
    name: 'Dropout in training',
    rule: 'remove-dropout',
    opset: 6,
    nodes: [{ op: 'Dropout', in: ['a'], out: ['b'] }],
    reason: 'it is in training mode (is_test is 0)',
  },
  {
    name: 'Dropout told to train',
    rule: 'remove-dropout',
    constants: { ratio: floats([], [0.5]), train: floats([], [1]) },
    nodes: [{ op: 'Dropout', in: ['a', 'ratio', 'train'], out: ['b'] }],
    reason: 'its training mode is an input',
  },
  {
    name: 'Cast',
    rule: 'remove-cast',
    nodes: [{ op: 'Cast', in: ['a'], out: ['b'], attributes: { to: int(11) } }],
    reason: 'it changes the dtype',
  },
  {
    name: 'Flatten',
    rule: 'remove-reshape',
    nodes: [{ op: 'Flatten', in: ['a'], out: ['b'] }],
    reason: 'it changes the shape, or the shape is not known',
  },
  { name: 'Transpose', rule: 'remove-transpose', nodes: [{ op: 'Transpose', in: ['a'], out: ['b'] }], reason: 'it moves axes' },
  {
    name: 'Concat of two',
    rule: 'remove-join-of-one',
    nodes: [{ op: 'Concat', in: ['a', 'a'], out: ['b'], attributes: { axis: int(0) } }],
    reason: 'it has several inputs',
  },
  {
    name: 'Pad',
    rule: 'remove-pad',
    constants: { p: integers([0, 0, 0, 1, 0, 0, 0, 0]) },
    nodes: [{ op: 'Pad', in: ['a', 'p'], out: ['b'] }],
    reason: 'it has pads',
  },
  {
    name: 'Pad by a computed amount',
    rule: 'remove-pad',
    nodes: [
      { op: 'Shape', in: ['a'], out: ['s'] },
      { op: 'Concat', in: ['s', 's'], out: ['p'], attributes: { axis: int(0) } },
      { op: 'Pad', in: ['a', 'p'], out: ['b'] },
    ],
    reason: 'its pads are not constant',
  },
  {
    name: 'Slice backwards',
    rule: 'remove-slice',
    constants: { from: integers([-1]), to: integers([-99]), axis: integers([2]), step: integers([-1]) },
    nodes: [{ op: 'Slice', in: ['a', 'from', 'to', 'axis', 'step'], out: ['b'] }],
    reason: 'its steps are not all 1',
  },
  {
    name: 'Slice of a part',
    rule: 'remove-slice',
    constants: { from: integers([1]), to: integers([99]), axis: integers([2]) },
    nodes: [{ op: 'Slice', in: ['a', 'from', 'to', 'axis'], out: ['b'] }],
    reason: 'it takes only some elements, or a shape is not known',
  },
  {
    name: 'MaxPool',
    rule: 'remove-pool',
    nodes: [{ op: 'MaxPool', in: ['a'], out: ['b'], attributes: { kernel_shape: ints([2, 2]) } }],
    reason: 'its kernel or stride is not 1',
  },
  {
    name: 'AveragePool that pads',
    rule: 'remove-pool',
    nodes: [{ op: 'AveragePool', in: ['a'], out: ['b'], attributes: { kernel_shape: ints([1, 1]), pads: ints([0, 1, 0, 0]) } }],
    reason: 'it has pads',
  },
  {
    name: 'Mul by 2',
    rule: 'remove-multiply-by-one',
    constants: { two: floats([], [2]) },
    nodes: [{ op: 'Mul', in: ['a', 'two'], out: ['b'] }],
    reason: 'the factor is not 1',
  },
  {
    name: 'Mul by a larger tensor of ones',
    rule: 'remove-multiply-by-one',
    dims: [1, 3],
    constants: { ones: floats([2, 3], [1, 1, 1, 1, 1, 1]) },
    nodes: [{ op: 'Mul', in: ['a', 'ones'], out: ['b'] }],
    reason: 'the factor may broadcast its input [1, 3]',
  },
  {
    name: 'Reshape by a constant',
    rule: 'fix-reshape',
    constants: { s: integers([2, -1]) },
    nodes: [{ op: 'Reshape', in: ['a', 's'], out: ['b'] }],
    reason: 'its shape is already constant',
  },
  {
    name: 'BatchNormalization of Gemm with alpha',
    rule: 'fold-batch-normalization',
    dims: [5, 4],
    constants: { ...BN, w: randomConstant([4, 3], 7) },
    nodes: [{ op: 'Gemm', in: ['a', 'w'], out: ['c'], attributes: { alpha: float(2) } }, batchNormalization],
    reason: 'alpha or beta of the Gemm is not 1',
  },
  {
    name: 'BatchNormalization in training',
    rule: 'fold-batch-normalization',
    constants: { ...CONV, ...BN },
    nodes: [conv(), { ...batchNormalization, attributes: { training_mode: int(1) } }],
    reason: 'it is in training mode',
  },
  {
    name: 'Add per column',
    rule: 'fold-channel-add',
    constants: { ...CONV, k: randomConstant([4], 9) },
    nodes: [conv(), { op: 'Add', in: ['c', 'k'], out: ['b'] }],
    reason: 'the constant [4] is not one value per channel',
  },
  {
    name: 'Div by zero',
    rule: 'fold-channel-div',
    constants: { ...CONV, k: floats([3, 1, 1], [1, 0, 1]) },
    nodes: [conv(), { op: 'Div', in: ['c', 'k'], out: ['b'] }],
    reason: 'a factor or offset is not finite',
  },
  {
    name: 'BatchNormalization of a Gemm with a bias per row',
    rule: 'fold-batch-normalization',
    dims: [5, 4],
    constants: { ...BN, w: randomConstant([4, 3], 7), bias: randomConstant([5, 1], 8) },
    nodes: [{ op: 'Gemm', in: ['a', 'w', 'bias'], out: ['c'] }, batchNormalization],
    reason: 'the bias of the Gemm is not one value per channel',
  },
  {
    name: 'Dropout whose mask is read',
    rule: 'remove-dropout',
    nodes: [
      { op: 'Dropout', in: ['a'], out: ['d', 'mask'] },
      { op: 'Cast', in: ['mask'], out: ['kept'], attributes: { to: int(1) } },
      { op: 'Add', in: ['d', 'kept'], out: ['b'] },
    ],
    reason: 'another output of the node is read',
  },
  {
    name: 'Add of −0',
    rule: 'remove-add-zero',
    constants: { zero: floats([], [-0]) },
    nodes: [{ op: 'Add', in: ['a', 'zero'], out: ['b'] }],
    reason: 'the term is not 0',
  },
  {
    name: 'Sub of 0 that broadcasts',
    rule: 'remove-subtract-zero',
    dims: [1, 4],
    constants: { zero: floats([2, 1], [0, 0]) },
    nodes: [{ op: 'Sub', in: ['a', 'zero'], out: ['b'] }],
    reason: 'the term may broadcast its input [1, 4]',
  },
  {
    name: 'Transpose and Reshape',
    rule: 'merge-reshapes',
    constants: { s: integers([4, 60]) },
    nodes: [
      { op: 'Transpose', in: ['a'], out: ['t'], attributes: { perm: ints([1, 0, 2, 3]) } },
      { op: 'Reshape', in: ['t', 's'], out: ['b'] },
    ],
    reason: 'a Transpose moves dims larger than 1',
  },
  {
    name: 'Reshape that divides a dim behind a Transpose',
    rule: 'reshape-before-transpose',
    dims: [5, 24],
    constants: { heads: integers([5, 4, 6]), other: integers([4, 5, 2, 3]) },
    nodes: [
      { op: 'Reshape', in: ['a', 'heads'], out: ['r'] },
      { op: 'Transpose', in: ['r'], out: ['t'], attributes: { perm: ints([1, 0, 2]) } },
      { op: 'Reshape', in: ['t', 'other'], out: ['b'] },
    ],
    reason: 'it changes dims other than those of size 1',
  },
  {
    name: 'Reshape of Reshape before opset 5',
    rule: 'merge-reshapes',
    opset: 4,
    nodes: [
      { op: 'Flatten', in: ['a'], out: ['f'] },
      { op: 'Reshape', in: ['f'], out: ['b'], attributes: { shape: ints([4, 60]) } },
    ],
    reason: 'it needs opset 5, from which on Reshape takes its shape as an input',
  },
  {
    name: 'Pad by a value',
    rule: 'fold-pad',
    constants: { ...CONV, p: integers([0, 0, 1, 1, 0, 0, 1, 1]), v: floats([], [1]) },
    nodes: [
      { op: 'Pad', in: ['a', 'p', 'v'], out: ['c'] },
      { op: 'Conv', in: ['c', 'w'], out: ['b'] },
    ],
    reason: 'its value is not 0',
  },
  {
    name: 'Pad by reflection',
    rule: 'fold-pad',
    constants: { ...CONV, p: integers([0, 0, 1, 1, 0, 0, 1, 1]) },
    nodes: [
      { op: 'Pad', in: ['a', 'p'], out: ['c'], attributes: { mode: string('reflect') } },
      { op: 'Conv', in: ['c', 'w'], out: ['b'] },
    ],
    reason: 'its mode is not constant',
  },
  {
    name: 'Pad of channels',
    rule: 'fold-pad',
    constants: { w: randomConstant([3, 5, 3, 3], 4), p: integers([0, 1, 1, 1, 0, 0, 1, 1]) },
    nodes: [
      { op: 'Pad', in: ['a', 'p'], out: ['c'] },
      { op: 'Conv', in: ['c', 'w'], out: ['b'] },
    ],
    reason: 'it pads batch or channels',
  },
  {
    name: 'Pad that crops',
    rule: 'fold-pad',
    constants: { ...CONV, p: integers([0, 0, -1, 0, 0, 0, 0, 0]) },
    nodes: [
      { op: 'Pad', in: ['a', 'p'], out: ['c'] },
      { op: 'Conv', in: ['c', 'w'], out: ['b'] },
    ],
    reason: 'it has negative pads',
  },
  {
    name: 'Pad before auto_pad',
    rule: 'fold-pad',
    constants: { ...CONV, p: integers([0, 0, 1, 0, 0, 0, 0, 0]) },
    nodes: [
      { op: 'Pad', in: ['a', 'p'], out: ['c'] },
      { op: 'Conv', in: ['c', 'w'], out: ['b'], attributes: { auto_pad: string('SAME_UPPER') } },
    ],
    reason: 'the Conv uses auto_pad',
  },
];

describe('declines', () => {
  it.each(DECLINES.map(testCase => [testCase.name, testCase] as const))('%s, with the reason', (_, testCase) => {
    const model = given(testCase);
    const before = operators(model);
    const { record } = applyRule(viewModel(model), ruleNamed(testCase.rule), { check: listProblems });
    expect(record.declined.map(entry => entry.reason)).toEqual([testCase.reason]);
    expect(operators(model)).toEqual(before);
  });

  const declinedIn = (spec: SmallModel, rule: string): string[] =>
    applyRule(viewModel(smallModel(spec)), ruleNamed(rule), { check: listProblems }).record.declined.map(entry => entry.reason);

  it('a reshape with two free sizes', () => {
    const reasons = declinedIn(
      {
        inputs: { x: ['float32', ['n', 'm', 4]], s: ['int64', [2]] },
        nodes: [{ op: 'Reshape', in: ['x', 's'], out: ['y'] }],
        outputs: ['y'],
      },
      'fix-reshape',
    );
    expect(reasons).toEqual(['more than one dim of the result is not known']);
  });

  it('a Transpose of unknown rank, and a Cast of an unknown type', () => {
    const unknown = { op: 'Unknown', in: ['x'], out: ['u'] };
    const inputs = { x: ['float32', [2]] } as const;
    const transposes = [unknown, { op: 'Transpose', in: ['u'], out: ['t'] }, { op: 'Transpose', in: ['t'], out: ['y'] }];
    expect(declinedIn({ inputs, nodes: transposes, outputs: ['y'] }, 'merge-transposes')).toEqual(['the rank of its input is not known']);
    const cast = { op: 'Cast', in: ['u'], out: ['y'], attributes: { to: int(1) } };
    expect(declinedIn({ inputs, nodes: [unknown, cast], outputs: ['y'] }, 'remove-cast')).toEqual(['the dtype of its input is not known']);
  });

  it('weights and constants of bfloat16, which no kernel proves', () => {
    const half = (dims: readonly number[]) => ({
      dtype: 'bfloat16' as const,
      dims,
      bytes: new Uint8Array(2 * dims.reduce((count, dim) => count * dim, 1)),
    });
    const inputs = { x: ['bfloat16', [1, 4, 5, 5]] } as const;
    const nodes = [
      { op: 'Conv', in: ['x', 'w'], out: ['c'] },
      { op: 'Add', in: ['c', 'k'], out: ['y'] },
    ];
    const constants = { w: half([3, 4, 1, 1]), k: half([3, 1, 1]) };
    expect(declinedIn({ inputs, constants, nodes, outputs: ['y'] }, 'fold-channel-add')).toEqual([
      'the constant is not float16, float32 or float64',
    ]);
    const bn = { gamma: half([3]), beta: half([3]), mean: half([3]), variance: half([3]) };
    const normalized = [nodes[0] ?? conv(), { op: 'BatchNormalization', in: ['c', ...BN_INPUTS], out: ['y'] }];
    expect(
      declinedIn({ inputs, constants: { ...constants, ...bn }, nodes: normalized, outputs: ['y'] }, 'fold-batch-normalization'),
    ).toEqual(['its parameters are not float16, float32 or float64']);
  });

  it('the nearest miss names the condition that failed', () => {
    const model = given({
      constants: { ...CONV, ...BN },
      nodes: [conv({ out: ['conv'] }), { op: 'Relu', in: ['conv'], out: ['c'] }, batchNormalization],
    });
    const { record } = applyRule(viewModel(model), foldBatchNormalization, { check: listProblems });
    expect(record.nearestMiss).toEqual({
      node: 'BatchNormalization "b"',
      reason: '"c" comes from Relu, not from Conv or ConvTranspose or Gemm',
    });
  });

  it('a linear node with other readers is not folded into', () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 4, 5, 5]] },
      constants: { ...CONV, ...BN },
      nodes: [{ ...conv(), in: ['x', 'w'] }, batchNormalization],
      outputs: ['b', 'c'],
    });
    const { record } = applyRule(viewModel(model), foldBatchNormalization, { check: listProblems });
    expect(record.nearestMiss?.reason).toBe('"c" has 2 readers');
  });
});
