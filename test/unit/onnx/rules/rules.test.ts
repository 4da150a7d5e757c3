/** Tests of the rewrite rules on small models against their proof class. ONNX Runtime computes the outputs before and after. */
import { float, int, ints, string } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import { REWRITE_RULES } from '../../../../src/onnx/rules/rule-table.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import type { Tensor } from '../../../../src/tensor/tensor.js';
import { listProblems, operators, runModel, valueNames } from '../../../support/look-at-model.js';
import { floats, integers, randomConstant, randomFloats, type SmallModel, smallModel } from '../../../support/small-model.js';

interface Case {
  readonly rule: string;
  readonly what: string;
  readonly model: SmallModel;
  readonly becomes: readonly string[];
  /** Of approximate rules: the largest difference that the rule's text allows. */
  readonly within?: number;
}

const x = (...dims: number[]): SmallModel['inputs'] => ({ x: ['float32', dims] });
const one = (op: string, more: Partial<SmallModel['nodes'][number]> = {}): SmallModel['nodes'] => [{ op, in: ['x'], out: ['y'], ...more }];
const positive = (values: readonly number[]) => floats([values.length], values);

const CASES: readonly Case[] = [
  {
    rule: 'split-slice',
    what: 'sizes as an input, one output unread',
    model: {
      inputs: x(2, 6, 3),
      constants: { sizes: integers([1, 2, 3]) },
      nodes: [{ op: 'Split', in: ['x', 'sizes'], out: ['a', 'b', 'c'], attributes: { axis: int(-2) } }],
      outputs: ['a', 'c'],
    },
    becomes: ['Slice', 'Slice'],
  },
  {
    rule: 'split-slice',
    what: 'equal parts, Slice with attributes at opset 9',
    model: { opset: 9, inputs: x(4, 6), nodes: [{ op: 'Split', in: ['x'], out: ['a', 'b'] }], outputs: ['a', 'b'] },
    becomes: ['Slice', 'Slice'],
  },
  {
    rule: 'reduce-mean-pool',
    what: 'axes from the end',
    model: { inputs: x(2, 3, 5, 7), nodes: one('ReduceMean', { attributes: { axes: ints([-1, -2]) } }), outputs: ['y'] },
    becomes: ['GlobalAveragePool'],
  },
  {
    rule: 'reduce-mean-pool',
    what: 'without keeping the axes, opset 18',
    model: {
      opset: 18,
      inputs: x(2, 3, 5, 7),
      constants: { axes: integers([2, 3]) },
      nodes: one('ReduceMean', { in: ['x', 'axes'], attributes: { keepdims: int(0) } }),
      outputs: ['y'],
    },
    becomes: ['GlobalAveragePool', 'Flatten'],
  },
  {
    rule: 'hard-swish/decompose',
    what: 'an operator',
    model: { inputs: x(3, 40), nodes: one('HardSwish'), outputs: ['y'] },
    becomes: ['HardSigmoid', 'Mul'],
  },
  {
    rule: 'hard-swish/fuse',
    what: 'a product with its gate first',
    model: {
      inputs: x(3, 40),
      nodes: [
        { op: 'HardSigmoid', in: ['x'], out: ['g'], attributes: { alpha: float(1 / 6) } },
        { op: 'Mul', in: ['g', 'x'], out: ['y'] },
      ],
      outputs: ['y'],
    },
    becomes: ['HardSwish'],
  },
  {
    rule: 'hard-swish/fuse-clip',
    what: 'four nodes',
    model: {
      inputs: x(3, 40),
      constants: { three: floats([], [3]), zero: floats([], [0]), six: floats([1], [6]), six2: floats([], [6]) },
      nodes: [
        { op: 'Add', in: ['x', 'three'], out: ['a'] },
        { op: 'Clip', in: ['a', 'zero', 'six2'], out: ['c'] },
        { op: 'Mul', in: ['x', 'c'], out: ['m'] },
        { op: 'Div', in: ['m', 'six'], out: ['y'] },
      ],
      outputs: ['y'],
    },
    becomes: ['HardSwish'],
  },
  {
    rule: 'sigmoid-hard',
    what: 'a sigmoid',
    model: { inputs: x(3, 400), nodes: one('Sigmoid'), outputs: ['y'] },
    becomes: ['HardSigmoid'],
    within: 0.0695,
  },
  {
    rule: 'silu-hard-swish',
    what: 'as an operator',
    model: {
      inputs: x(3, 400),
      nodes: [
        { op: 'Sigmoid', in: ['x'], out: ['g'] },
        { op: 'Mul', in: ['x', 'g'], out: ['y'] },
      ],
      outputs: ['y'],
    },
    becomes: ['HardSwish'],
    within: 0.143,
  },
  {
    rule: 'silu-hard-swish',
    what: 'as a product, opset 13',
    model: {
      opset: 13,
      inputs: x(3, 400),
      nodes: [
        { op: 'Sigmoid', in: ['x'], out: ['g'] },
        { op: 'Mul', in: ['g', 'x'], out: ['y'] },
      ],
      outputs: ['y'],
    },
    becomes: ['HardSigmoid', 'Mul'],
    within: 0.143,
  },
  {
    rule: 'hard-sigmoid-slope',
    what: 'the default slope of 0.2',
    model: { inputs: x(3, 40), nodes: one('HardSigmoid'), outputs: ['y'] },
    becomes: ['Mul', 'HardSigmoid'],
  },
  {
    rule: 'hard-sigmoid-slope',
    what: 'another offset',
    model: { inputs: x(3, 40), nodes: one('HardSigmoid', { attributes: { beta: float(0.25) } }), outputs: ['y'] },
    becomes: ['Mul', 'Add', 'HardSigmoid'],
  },
  {
    rule: 'clip/bounds',
    what: 'a lower bound alone',
    model: {
      inputs: x(3, 40),
      constants: { low: floats([], [-0.5]) },
      nodes: one('Clip', { in: ['x', 'low'] }),
      outputs: ['y'],
    },
    becomes: ['Clip'],
  },
  {
    rule: 'clip/bounds',
    what: 'an attribute alone, opset 9',
    model: { opset: 9, inputs: x(3, 40), nodes: one('Clip', { attributes: { max: float(0.5) } }), outputs: ['y'] },
    becomes: ['Clip'],
  },
  {
    rule: 'clip/relu',
    what: 'from 0 upwards',
    model: { inputs: x(3, 40), constants: { low: floats([], [0]) }, nodes: one('Clip', { in: ['x', 'low'] }), outputs: ['y'] },
    becomes: ['Relu'],
  },
  {
    rule: 'clip/relu-unbounded',
    what: 'from 0 to 6, whose inputs here go to 12',
    model: {
      inputs: x(3, 40),
      constants: { low: floats([], [0]), high: floats([], [6]) },
      nodes: one('Clip', { in: ['x', 'low', 'high'] }),
      outputs: ['y'],
    },
    becomes: ['Relu'],
    within: 6,
  },
  {
    rule: 'prelu-leaky-relu',
    what: 'equal slopes per channel',
    model: {
      inputs: x(2, 3, 4, 4),
      constants: { s: floats([3, 1, 1], [0.2, 0.2, 0.2]) },
      nodes: one('PRelu', { in: ['x', 's'] }),
      outputs: ['y'],
    },
    becomes: ['LeakyRelu'],
  },
  {
    rule: 'leaky-relu-256ths',
    what: '0.1',
    model: { inputs: x(3, 40), nodes: one('LeakyRelu', { attributes: { alpha: float(0.1) } }), outputs: ['y'] },
    becomes: ['LeakyRelu'],
    within: 12 / 512,
  },
  ...(['asymmetric', 'half_pixel', 'align_corners', 'pytorch_half_pixel'] as const).map(
    (coordinates): Case => ({
      rule: 'resize-scales',
      what: `sizes, linear, ${coordinates}`,
      model: {
        inputs: x(1, 2, 5, 6),
        constants: { sizes: integers([1, 2, 10, 9]) },
        nodes: one('Resize', {
          in: ['x', '', '', 'sizes'],
          attributes: { mode: string('linear'), coordinate_transformation_mode: string(coordinates) },
        }),
        outputs: ['y'],
      },
      becomes: ['Resize'],
    }),
  ),
  {
    rule: 'resize-scales',
    what: 'opset 11, with a roi that is not read',
    model: {
      opset: 11,
      inputs: x(1, 2, 5, 6),
      constants: { roi: floats([8], [0, 0, 0, 0, 1, 1, 1, 1]), none: floats([0], []), sizes: integers([1, 2, 20, 12]) },
      nodes: one('Resize', { in: ['x', 'roi', 'none', 'sizes'], attributes: { nearest_mode: string('floor') } }),
      outputs: ['y'],
    },
    becomes: ['Resize'],
  },
  ...(
    [
      ['asymmetric', 'floor', 3],
      ['half_pixel', 'round_prefer_floor', 2],
      ['half_pixel', 'round_prefer_ceil', 4],
      ['half_pixel_symmetric', 'round_prefer_floor', 3],
      ['pytorch_half_pixel', 'round_prefer_floor', 3],
      ['tf_half_pixel_for_nn', 'floor', 2],
    ] as const
  ).map(
    ([coordinates, rounding, scale]): Case => ({
      rule: 'resize-conv-transpose',
      what: `×${scale}, ${coordinates}, ${rounding}`,
      model: {
        opset: coordinates === 'half_pixel_symmetric' ? 19 : coordinates === 'tf_half_pixel_for_nn' ? 12 : 17,
        inputs: x(1, 3, 4, 5),
        constants: { scales: floats([4], [1, 1, scale, 2]), none: floats([0], []) },
        nodes: one('Resize', {
          in: ['x', 'none', 'scales'],
          attributes: { nearest_mode: string(rounding), coordinate_transformation_mode: string(coordinates) },
        }),
        outputs: ['y'],
      },
      becomes: ['ConvTranspose'],
    }),
  ),
  {
    rule: 'gemm-conv',
    what: 'behind a Flatten: a Conv over the window',
    model: {
      inputs: x(2, 3, 4, 5),
      constants: { w: randomConstant([7, 60]), b: randomConstant([7], 2) },
      nodes: [
        { op: 'Flatten', in: ['x'], out: ['f'] },
        { op: 'Gemm', in: ['f', 'w', 'b'], out: ['y'], attributes: { transB: int(1) } },
      ],
      outputs: ['y'],
    },
    becomes: ['Conv', 'Reshape'],
  },
  {
    rule: 'gemm-conv',
    what: 'rows, weight not transposed, no bias',
    model: { inputs: x(2, 6), constants: { w: randomConstant([6, 4]) }, nodes: one('Gemm', { in: ['x', 'w'] }), outputs: ['y'] },
    becomes: ['Reshape', 'Conv', 'Reshape'],
  },
  {
    rule: 'conv-of-concat',
    what: 'features and a mask',
    model: {
      inputs: { x: ['float32', [2, 8, 6, 6]], m: ['float32', [2, 1, 6, 6]] },
      constants: { w: randomConstant([4, 9, 3, 3]), b: randomConstant([4], 2) },
      nodes: [
        { op: 'Concat', in: ['x', 'm'], out: ['c'], attributes: { axis: int(1) } },
        { op: 'Conv', in: ['c', 'w', 'b'], out: ['y'], attributes: { pads: ints([1, 1, 1, 1]) } },
      ],
      outputs: ['y'],
    },
    becomes: ['Conv', 'Conv', 'Add'],
  },
  {
    rule: 'unshare-constants',
    what: 'two heads with one weight',
    model: {
      inputs: x(1, 3, 4, 4),
      constants: { w: randomConstant([3, 3, 1, 1]) },
      nodes: [
        { op: 'Conv', in: ['x', 'w'], out: ['a'] },
        { op: 'Conv', in: ['a', 'w'], out: ['b'] },
      ],
      outputs: ['a', 'b'],
    },
    becomes: ['Conv', 'Conv'],
  },
  ...(['split', 'dense'] as const).map(
    (form): Case => ({
      rule: `group-conv/${form}`,
      what: 'two groups, stride 2',
      model: {
        inputs: x(2, 6, 5, 5),
        constants: { w: randomConstant([4, 3, 3, 3]), b: randomConstant([4], 2) },
        nodes: one('Conv', { in: ['x', 'w', 'b'], attributes: { group: int(2), strides: ints([2, 2]), pads: ints([1, 1, 1, 1]) } }),
        outputs: ['y'],
      },
      becomes: form === 'split' ? ['Slice', 'Conv', 'Slice', 'Conv', 'Concat'] : ['Conv'],
    }),
  ),
  {
    rule: 'batch-norm-conv',
    what: 'behind a Relu',
    model: {
      inputs: x(2, 3, 4, 4),
      constants: { g: randomConstant([3]), b: randomConstant([3], 2), m: randomConstant([3], 3), v: positive([0.5, 1, 2]) },
      nodes: one('BatchNormalization', { in: ['x', 'g', 'b', 'm', 'v'] }),
      outputs: ['y'],
    },
    becomes: ['Conv'],
  },
  {
    rule: 'conv-1d',
    what: 'strides, dilations and pads',
    model: {
      inputs: x(2, 3, 20),
      constants: { w: randomConstant([4, 3, 3]), b: randomConstant([4], 2) },
      nodes: one('Conv', { in: ['x', 'w', 'b'], attributes: { pads: ints([1, 2]), strides: ints([2]), dilations: ints([2]) } }),
      outputs: ['y'],
    },
    becomes: ['Unsqueeze', 'Conv', 'Squeeze'],
  },
  ...(
    [
      ['DepthToSpace', 'DCR'],
      ['DepthToSpace', 'CRD'],
      ['SpaceToDepth', ''],
    ] as const
  ).map(
    ([op, mode]): Case => ({
      rule: 'pixel-shuffle/decompose',
      what: `${op} ${mode}`,
      model: {
        inputs: x(2, 8, 4, 6),
        nodes: one(op, { attributes: { blocksize: int(2), ...(mode === '' ? {} : { mode: string(mode) }) } }),
        outputs: ['y'],
      },
      becomes: ['Reshape', 'Transpose', 'Reshape'],
    }),
  ),
  ...(
    [
      ['DepthToSpace', [2, 2, 2, 2, 4, 6], [0, 3, 4, 1, 5, 2], [2, 2, 8, 12]],
      ['DepthToSpace', [2, 2, 2, 2, 4, 6], [0, 1, 4, 2, 5, 3], [2, 2, 8, 12]],
      ['SpaceToDepth', [2, 8, 2, 2, 3, 2], [0, 3, 5, 1, 2, 4], [2, 32, 2, 3]],
    ] as const
  ).map(
    ([op, split, perm, shape]): Case => ({
      rule: 'pixel-shuffle/fuse',
      what: `${op} by [${perm.join()}]`,
      model: {
        inputs: x(2, 8, 4, 6),
        constants: { split: integers(split), shape: integers(shape) },
        nodes: [
          { op: 'Reshape', in: ['x', 'split'], out: ['s'] },
          { op: 'Transpose', in: ['s'], out: ['t'], attributes: { perm: ints(perm) } },
          { op: 'Reshape', in: ['t', 'shape'], out: ['y'] },
        ],
        outputs: ['y'],
      },
      becomes: [op],
    }),
  ),
  {
    rule: 'large-pool',
    what: 'the mean of 24×40',
    model: { inputs: x(1, 2, 24, 40), nodes: one('GlobalAveragePool'), outputs: ['y'] },
    becomes: ['AveragePool', 'AveragePool'],
  },
  {
    rule: 'large-pool',
    what: 'the largest of 24×40',
    model: {
      inputs: x(1, 2, 24, 40),
      nodes: one('MaxPool', { attributes: { kernel_shape: ints([24, 40]), strides: ints([24, 40]) } }),
      outputs: ['y'],
    },
    becomes: ['MaxPool', 'MaxPool'],
  },
  {
    rule: 'output-padding',
    what: 'stride 2, one cut at the end',
    model: {
      inputs: x(1, 2, 4, 5),
      constants: { w: randomConstant([2, 3, 3, 3]) },
      nodes: one('ConvTranspose', {
        in: ['x', 'w'],
        attributes: { strides: ints([2, 2]), pads: ints([1, 1, 1, 1]), output_padding: ints([1, 1]) },
      }),
      outputs: ['y'],
    },
    becomes: ['ConvTranspose'],
  },
  {
    rule: 'maxpool-1x1/delta',
    what: 'an odd and an even size',
    model: {
      inputs: x(1, 3, 5, 8),
      nodes: one('MaxPool', { attributes: { kernel_shape: ints([1, 1]), strides: ints([2, 2]) } }),
      outputs: ['y'],
    },
    becomes: ['Conv'],
  },
  ...(
    [
      ['stride 2, nothing cut', [2, 2], [0, 0, 0, 0], [1, 1]],
      ['stride 3 and 2, more than is cut', [3, 2], [0, 1, 1, 0], [2, 1]],
    ] as const
  ).map(
    ([what, strides, pads, extra]): Case => ({
      rule: 'output-padding',
      what,
      model: {
        inputs: x(1, 2, 4, 5),
        constants: { w: randomConstant([2, 3, 3, 3]), b: randomConstant([3], 2) },
        nodes: one('ConvTranspose', {
          in: ['x', 'w', 'b'],
          attributes: { strides: ints(strides), pads: ints(pads), output_padding: ints(extra) },
        }),
        outputs: ['y'],
      },
      becomes: ['Pad', 'ConvTranspose'],
    }),
  ),
  {
    rule: 'affine-conv',
    what: 'minus mean, over deviation, no padding',
    model: {
      inputs: x(1, 3, 7, 6),
      constants: {
        mean: floats([1, 3, 1, 1], [1, 2, -3]),
        deviation: floats([3, 1, 1], [2, 4, 0.5]),
        w: randomConstant([4, 3, 3, 3]),
        b: randomConstant([4], 2),
      },
      nodes: [
        { op: 'Sub', in: ['x', 'mean'], out: ['s'] },
        { op: 'Div', in: ['s', 'deviation'], out: ['d'] },
        { op: 'Conv', in: ['d', 'w', 'b'], out: ['y'] },
      ],
      outputs: ['y'],
    },
    becomes: ['Conv'],
  },
  {
    rule: 'affine-conv',
    what: 'factors alone, padded, two groups, no bias',
    model: {
      inputs: x(1, 4, 5, 5),
      constants: { factor: floats([4, 1, 1], [1, 2, -3, 0.5]), w: randomConstant([4, 2, 3, 3]) },
      nodes: [
        { op: 'Mul', in: ['factor', 'x'], out: ['s'] },
        { op: 'Conv', in: ['s', 'w'], out: ['y'], attributes: { group: int(2), pads: ints([1, 1, 1, 1]) } },
      ],
      outputs: ['y'],
    },
    becomes: ['Conv'],
  },
  {
    rule: 'affine-conv',
    what: 'one offset for all, padded: the border is padded before',
    model: {
      inputs: x(1, 3, 5, 5),
      constants: { half: floats([], [127.5]), scale: floats([1], [1 / 128]), w: randomConstant([4, 3, 3, 3]), b: randomConstant([4], 2) },
      nodes: [
        { op: 'Sub', in: ['half', 'x'], out: ['s'] },
        { op: 'Mul', in: ['s', 'scale'], out: ['d'] },
        { op: 'Conv', in: ['d', 'w', 'b'], out: ['y'], attributes: { pads: ints([1, 0, 2, 1]) } },
      ],
      outputs: ['y'],
    },
    becomes: ['Pad', 'Conv'],
  },
  {
    rule: 'gelu-sigmoid',
    what: 'five nodes',
    model: {
      inputs: x(3, 400),
      constants: { root: floats([], [Math.SQRT2]), one: floats([], [1]), half: floats([], [0.5]) },
      nodes: [
        { op: 'Div', in: ['x', 'root'], out: ['d'] },
        { op: 'Erf', in: ['d'], out: ['e'] },
        { op: 'Add', in: ['e', 'one'], out: ['a'] },
        { op: 'Mul', in: ['x', 'a'], out: ['m'] },
        { op: 'Mul', in: ['m', 'half'], out: ['y'] },
      ],
      outputs: ['y'],
    },
    becomes: ['Mul', 'Sigmoid', 'Mul'],
    within: 0.021,
  },
  {
    rule: 'gelu-sigmoid',
    what: 'an operator',
    model: { opset: 20, inputs: x(3, 400), nodes: one('Gelu'), outputs: ['y'] },
    becomes: ['Mul', 'Sigmoid', 'Mul'],
    within: 0.021,
  },
  {
    rule: 'mish-sigmoid',
    what: 'an operator',
    model: { opset: 18, inputs: x(3, 400), nodes: one('Mish'), outputs: ['y'] },
    becomes: ['Mul', 'Sigmoid', 'Mul'],
    within: 0.103,
  },
  {
    rule: 'mish-sigmoid',
    what: 'three nodes',
    model: {
      inputs: x(3, 400),
      nodes: [
        { op: 'Softplus', in: ['x'], out: ['s'] },
        { op: 'Tanh', in: ['s'], out: ['t'] },
        { op: 'Mul', in: ['t', 'x'], out: ['y'] },
      ],
      outputs: ['y'],
    },
    becomes: ['Mul', 'Sigmoid', 'Mul'],
    within: 0.103,
  },
  {
    rule: 'softplus-relu',
    what: 'an operator',
    model: { inputs: x(3, 400), nodes: one('Softplus'), outputs: ['y'] },
    becomes: ['Relu'],
    within: Math.LN2 + 1e-6,
  },
  ...[2, 3].map(
    (scale): Case => ({
      rule: 'resize-depth-to-space',
      what: `×${scale}`,
      model: {
        inputs: x(2, 3, 4, 5),
        constants: { scales: floats([4], [1, 1, scale, scale]) },
        nodes: one('Resize', {
          in: ['x', '', 'scales'],
          attributes: { nearest_mode: string('floor'), coordinate_transformation_mode: string('asymmetric') },
        }),
        outputs: ['y'],
      },
      becomes: ['Concat', 'DepthToSpace'],
    }),
  ),
  ...(
    [
      ['half_pixel', [2, 2]],
      ['half_pixel', [3, 1]],
      ['pytorch_half_pixel', [4, 5]],
    ] as const
  ).map(
    ([coordinates, [height, width]]): Case => ({
      rule: 'resize-linear-conv-transpose',
      what: `×${height} and ×${width}, ${coordinates}`,
      model: {
        inputs: x(2, 3, 4, 5),
        constants: { scales: floats([4], [1, 1, height, width]) },
        nodes: one('Resize', {
          in: ['x', '', 'scales'],
          attributes: { mode: string('linear'), coordinate_transformation_mode: string(coordinates) },
        }),
        outputs: ['y'],
      },
      becomes: ['Pad', 'ConvTranspose'],
    }),
  ),
  {
    rule: 'resize-linear-conv-transpose',
    what: 'sizes, of one row and one column',
    model: {
      inputs: x(1, 2, 1, 1),
      constants: { sizes: integers([1, 2, 2, 6]) },
      nodes: one('Resize', { in: ['x', '', '', 'sizes'], attributes: { mode: string('linear') } }),
      outputs: ['y'],
    },
    becomes: ['Pad', 'ConvTranspose'],
  },
  {
    rule: 'strided-slice/gather',
    what: 'backwards, by twos, and a plain part',
    model: {
      inputs: x(2, 6, 7, 5),
      constants: {
        starts: integers([-1, 1, 1]),
        ends: integers([-(2 ** 40), 6, 3]),
        axes: integers([2, 1, -1]),
        steps: integers([-1, 2, 1]),
      },
      nodes: one('Slice', { in: ['x', 'starts', 'ends', 'axes', 'steps'] }),
      outputs: ['y'],
    },
    becomes: ['Slice', 'Gather', 'Gather'],
  },
  {
    rule: 'strided-slice/gather',
    what: 'backwards by threes from the middle',
    model: {
      inputs: x(11),
      constants: { starts: integers([8]), ends: integers([0]), axes: integers([0]), steps: integers([-3]) },
      nodes: one('Slice', { in: ['x', 'starts', 'ends', 'axes', 'steps'] }),
      outputs: ['y'],
    },
    becomes: ['Gather'],
  },
  ...([0, 1, 2] as const).map(
    (start): Case => ({
      rule: 'strided-slice/conv',
      what: `by twos and threes, from ${start} and 1`,
      model: {
        inputs: x(2, 3, 8, 9),
        constants: { starts: integers([start, 1]), ends: integers([2 ** 40, 9]), axes: integers([2, 3]), steps: integers([2, 3]) },
        nodes: one('Slice', { in: ['x', 'starts', 'ends', 'axes', 'steps'] }),
        outputs: ['y'],
      },
      becomes: ['Conv'],
    }),
  ),
  {
    rule: 'transpose-push',
    what: 'behind a chain with a constant per channel and one with a second arranged value',
    model: {
      inputs: { x: ['float32', [2, 3, 4, 5]], z: ['float32', [2, 3, 4, 5]] },
      constants: {
        low: floats([], [0]),
        high: floats([], [6]),
        c: floats([3], [1, 2, 3]),
        s: floats([], [0.05]),
        q: { dtype: 'uint8', dims: [], bytes: Uint8Array.of(3) },
      },
      nodes: [
        { op: 'Transpose', in: ['x'], out: ['t'], attributes: { perm: ints([0, 2, 3, 1]) } },
        { op: 'Clip', in: ['t', 'low', 'high'], out: ['a'] },
        { op: 'Add', in: ['c', 'a'], out: ['b'] },
        { op: 'QuantizeLinear', in: ['b', 's', 'q'], out: ['e'] },
        { op: 'DequantizeLinear', in: ['e', 's', 'q'], out: ['f'] },
        { op: 'Transpose', in: ['z'], out: ['u'], attributes: { perm: ints([0, 2, 3, 1]) } },
        { op: 'Mul', in: ['f', 'u'], out: ['y'] },
      ],
      outputs: ['y'],
    },
    becomes: ['Clip', 'Add', 'QuantizeLinear', 'DequantizeLinear', 'Mul', 'Transpose'],
  },
  {
    rule: 'silu-two-hard-sigmoids',
    what: 'a product with its gate first',
    model: {
      inputs: x(3, 400),
      nodes: [
        { op: 'Sigmoid', in: ['x'], out: ['g'] },
        { op: 'Mul', in: ['g', 'x'], out: ['y'] },
      ],
      outputs: ['y'],
    },
    becomes: ['HardSigmoid', 'HardSigmoid', 'Add', 'Mul', 'Mul'],
    within: 0.07195,
  },
  {
    rule: 'dpu-factors/hard-sigmoid',
    what: 'a slope of 1/6',
    model: { inputs: x(3, 40), nodes: one('HardSigmoid', { attributes: { alpha: float(1 / 6) } }), outputs: ['y'] },
    becomes: ['HardSigmoid', 'Mul'],
    within: 0.000123,
  },
  {
    rule: 'dpu-factors/average-pool',
    what: 'a whole map of 7×7',
    model: { inputs: x(2, 3, 7, 7), nodes: one('GlobalAveragePool'), outputs: ['y'] },
    becomes: ['GlobalAveragePool', 'Mul'],
    // Means are at most 12.
    within: (12 * 5) / 1024,
  },
  ...(['SAME_UPPER', 'SAME_LOWER', 'VALID'] as const).flatMap((mode): readonly Case[] => [
    {
      rule: 'explicit-pads',
      what: `a Conv with ${mode}, stride 2 and dilation 2, without kernel_shape`,
      model: {
        inputs: x(1, 2, 9, 12),
        constants: { w: randomConstant([3, 2, 3, 2]) },
        nodes: one('Conv', {
          in: ['x', 'w'],
          attributes: { auto_pad: string(mode), strides: ints([2, 3]), dilations: ints(mode === 'VALID' ? [2, 2] : [1, 1]) },
        }),
        outputs: ['y'],
      },
      becomes: ['Conv'],
    },
    {
      rule: 'explicit-pads',
      what: `pools with ${mode}`,
      model: {
        inputs: x(1, 2, 7, 6),
        nodes: [
          {
            op: 'MaxPool',
            in: ['x'],
            out: ['m'],
            attributes: { auto_pad: string(mode), kernel_shape: ints([2, 3]), strides: ints([1, 2]) },
          },
          { op: 'AveragePool', in: ['m'], out: ['y'], attributes: { auto_pad: string(mode), kernel_shape: ints([3, 2]) } },
        ],
        outputs: ['y'],
      },
      becomes: ['MaxPool', 'AveragePool'],
    },
  ]),
];

const ruleOf = (name: string) => getRule(...(name.split('/') as [string, string | undefined]));

function apply(model: Model, rule: string): Model {
  rewriteModel(model, { rules: [{ rule: ruleOf(rule), matches: 'any' }], edits: [], check: listProblems });
  return model;
}

/** Values from −12 to 12: beyond the knees of every activation here. */
const feedsOf = ({ inputs }: SmallModel): Record<string, Tensor> =>
  Object.fromEntries(
    Object.entries(inputs).map(([name, [, dims]], index) => {
      const random = randomFloats(dims.map(Number), index + 1);
      return [name, { ...random, data: random.data.map(value => 12 * value) }];
    }),
  );

const numbers = (tensor: Tensor | undefined): Float32Array => (tensor?.data ?? new Float32Array()) as Float32Array;

describe('rewrite rules', () => {
  it.each(CASES.map((given): [string, Case] => [`${given.rule}: ${given.what}`, given]))('%s', async (_, {
    rule,
    model,
    becomes,
    within,
  }) => {
    const feeds = feedsOf(model);
    const before = await runModel(smallModel(model), feeds);
    const rewritten = apply(smallModel(model), rule);
    expect(operators(rewritten)).toEqual(becomes);
    const after = await runModel(rewritten, feeds);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    const { proof } = ruleOf(rule);
    for (const [name, tensor] of Object.entries(before)) {
      const [old, now] = [numbers(tensor), numbers(after[name])];
      expect(after[name]?.dims).toEqual(tensor.dims);
      const worst = Math.max(...old.map((value, index) => Math.abs(value - (now[index] ?? Number.NaN))));
      const scale = Math.max(...old.map(Math.abs), 1);
      // Sums of at most some hundred float32 products, in another order: far below 1e-5 of the largest value.
      if (proof !== 'approximate') expect(worst).toBeLessThanOrEqual(proof === 'exact' ? 0 : 1e-5 * scale);
      else expect(worst).toBeLessThanOrEqual(within ?? 0);
    }
  });

  it('cover every rule and form that a pipeline can name', () => {
    const covered = new Set(CASES.map(({ rule }) => rule));
    const elsewhere = [
      'absorb-biases',
      'channel-factors/mul',
      'channel-factors/depthwise',
      'clip/relu-in-range',
      'conv-transpose-depth-to-space',
      'cut-moves/trailing',
      'cut-moves/leading',
      'equalize/real',
      'equalize/power-of-two',
      'maxpool-1x1/3x3',
      'maxpool-1x1/depthwise',
      'maxpool-1x1/slice',
    ];
    const named = REWRITE_RULES.flatMap(({ name, forms }) => forms.map(({ form }) => (form === undefined ? name : `${name}/${form}`)));
    expect(named.filter(name => !covered.has(name))).toEqual(elsewhere);
  });

  it.each(CASES.map((given): [string, Case] => [`${given.rule}: ${given.what}`, given]))('are done after once: %s', (_, {
    rule,
    model,
  }) => {
    const once = apply(smallModel(model), rule);
    const again = operators(once);
    apply(once, rule);
    expect(operators(once)).toEqual(again);
  });

  it('keep every quantized value if data only moves', async () => {
    const given: SmallModel = {
      inputs: x(1, 4, 3, 3),
      constants: { s: floats([], [0.125]), z: { dtype: 'uint8', dims: [], bytes: Uint8Array.of(128) } },
      nodes: [
        { op: 'QuantizeLinear', in: ['x', 's', 'z'], out: ['q'] },
        { op: 'DequantizeLinear', in: ['q', 's', 'z'], out: ['d'] },
        { op: 'Split', in: ['d'], out: ['a', 'b'], attributes: { axis: int(1) } },
        { op: 'QuantizeLinear', in: ['a', 's', 'z'], out: ['qa'] },
        { op: 'QuantizeLinear', in: ['b', 's', 'z'], out: ['qb'] },
      ],
      outputs: ['qa', 'qb'],
    };
    const feeds = feedsOf(given);
    expect(await runModel(apply(smallModel(given), 'split-slice'), feeds)).toEqual(await runModel(smallModel(given), feeds));
  });

  it.each<[string, SmallModel, string]>(
    [
      [
        'silu-two-hard-sigmoids',
        {
          inputs: { x: ['float32', [4]], z: ['float32', [4]] },
          nodes: [
            { op: 'Sigmoid', in: ['z'], out: ['g'] },
            { op: 'Mul', in: ['x', 'g'], out: ['y'] },
          ],
          outputs: ['y'],
        },
        'its factor is not the input of the Sigmoid',
      ],
      [
        'dpu-factors/hard-sigmoid',
        { inputs: x(4), nodes: one('HardSigmoid'), outputs: ['y'] },
        'its slope is not 1/6, or its offset not 1/2: apply hard-sigmoid-slope first',
      ],
      [
        'dpu-factors/average-pool',
        { inputs: x(1, 2, 16, 16), nodes: one('GlobalAveragePool'), outputs: ['y'] },
        'a DPU computes it with the factor 1',
      ],
      [
        'dpu-factors/average-pool',
        { inputs: { x: ['float32', [1, 2, 'h', 7]] }, nodes: one('GlobalAveragePool'), outputs: ['y'] },
        'height or width of its window is not known',
      ],
      [
        'explicit-pads',
        {
          inputs: x(1, 2, 7, 7),
          nodes: one('MaxPool', { attributes: { auto_pad: string('SAME_UPPER'), kernel_shape: ints([2, 2]), ceil_mode: int(1) } }),
          outputs: ['y'],
        },
        'it has auto_pad and ceil_mode',
      ],
      [
        'explicit-pads',
        {
          inputs: { x: ['float32', [1, 2, 7, 'w']] },
          nodes: one('MaxPool', { attributes: { auto_pad: string('SAME_UPPER'), kernel_shape: ints([2, 2]) } }),
          outputs: ['y'],
        },
        'height, width or the kernel is not known',
      ],
      [
        'split-slice',
        {
          inputs: { x: ['float32', [2, 'n']] },
          nodes: [{ op: 'Split', in: ['x'], out: ['a', 'b'], attributes: { axis: int(1) } }],
          outputs: ['a', 'b'],
        },
        'dim 1 of output 0 is not known',
      ],
      [
        'reduce-mean-pool',
        { inputs: x(1, 2, 3, 4), nodes: one('ReduceMean', { attributes: { axes: ints([1, 2]) } }), outputs: ['y'] },
        'its axes are [1, 2], not [2, 3]',
      ],
      [
        'hard-swish/fuse',
        {
          inputs: { x: ['float32', [4]], z: ['float32', [4]] },
          nodes: [
            { op: 'HardSigmoid', in: ['z'], out: ['g'], attributes: { alpha: float(1 / 6) } },
            { op: 'Mul', in: ['x', 'g'], out: ['y'] },
          ],
          outputs: ['y'],
        },
        'its factor is not the value that the gate reads',
      ],
      [
        'clip/relu',
        {
          inputs: x(4),
          constants: { low: floats([], [0]), high: floats([], [6]) },
          nodes: one('Clip', { in: ['x', 'low', 'high'] }),
          outputs: ['y'],
        },
        'its upper bound is 6; the form relu-unbounded drops it',
      ],
      [
        'prelu-leaky-relu',
        { inputs: x(2, 2), constants: { s: floats([2], [0.1, 0.2]) }, nodes: one('PRelu', { in: ['x', 's'] }), outputs: ['y'] },
        'its slopes differ',
      ],
      [
        'resize-conv-transpose',
        {
          inputs: x(1, 1, 2, 2),
          constants: { scales: floats([4], [1, 1, 2, 2]) },
          nodes: one('Resize', { in: ['x', '', 'scales'], attributes: { mode: string('linear') } }),
          outputs: ['y'],
        },
        'its mode is linear, not nearest',
      ],
      [
        'resize-scales',
        {
          inputs: x(1, 1, 4, 4),
          constants: { scales: floats([4], [1, 1, 1.3, 1.3]) },
          nodes: one('Resize', { in: ['x', '', 'scales'], attributes: { mode: string('linear') } }),
          outputs: ['y'],
        },
        'its scales are computed, or are not the quotients of the sizes',
      ],
      [
        'resize-conv-transpose',
        {
          inputs: x(1, 1, 3, 3),
          constants: { scales: floats([4], [1, 1, 2.3, 2.3]) },
          nodes: one('Resize', {
            in: ['x', '', 'scales'],
            attributes: { coordinate_transformation_mode: string('asymmetric'), nearest_mode: string('floor') },
          }),
          outputs: ['y'],
        },
        'its scales are computed, or differ from the factors of the sizes',
      ],
      [
        'gemm-conv',
        {
          inputs: x(3, 4),
          constants: { w: randomConstant([4, 3]), b: randomConstant([3, 1]) },
          nodes: one('Gemm', { in: ['x', 'w', 'b'] }),
          outputs: ['y'],
        },
        'its bias is not one float32 value per output',
      ],
      [
        'reduce-mean-pool',
        { inputs: { x: ['int32', [1, 2, 3, 4]] }, nodes: one('ReduceMean', { attributes: { axes: ints([2, 3]) } }), outputs: ['y'] },
        'its input has dtype int32; expected a float',
      ],
      ['large-pool', { inputs: x(1, 1, 31, 31), nodes: one('GlobalMaxPool'), outputs: ['y'] }, ''],
      [
        'large-pool',
        { inputs: x(1, 1, 23, 29), nodes: one('GlobalMaxPool'), outputs: ['y'] },
        '23×29 does not divide into two windows of at most 512 elements',
      ],
      [
        'output-padding',
        {
          inputs: x(1, 1, 4, 4),
          constants: { w: randomConstant([1, 1, 2, 2]) },
          nodes: one('ConvTranspose', {
            in: ['x', 'w'],
            attributes: { strides: ints([2, 2]), output_padding: ints([1, 1]), output_shape: ints([9, 9]) },
          }),
          outputs: ['y'],
        },
        'it has output_shape',
      ],
      [
        'affine-conv',
        {
          inputs: x(1, 2, 4, 4),
          constants: { mean: floats([2, 1, 1], [1, 2]), w: randomConstant([1, 2, 3, 3]) },
          nodes: [
            { op: 'Sub', in: ['x', 'mean'], out: ['s'] },
            { op: 'Conv', in: ['s', 'w'], out: ['y'], attributes: { pads: ints([1, 1, 1, 1]) } },
          ],
          outputs: ['y'],
        },
        'it pads with zeros, which correspond to different values per channel before the offset: the border would change',
      ],
      [
        'affine-conv',
        {
          inputs: x(1, 2, 4, 4),
          constants: { mean: floats([1, 1, 1, 4], [1, 2, 3, 4]), w: randomConstant([1, 2, 3, 3]) },
          nodes: [
            { op: 'Sub', in: ['x', 'mean'], out: ['s'] },
            { op: 'Conv', in: ['s', 'w'], out: ['y'] },
          ],
          outputs: ['y'],
        },
        'its input does not come from a Mul, Div, Add or Sub by a constant per channel that it alone reads',
      ],
      [
        'resize-linear-conv-transpose',
        {
          inputs: x(1, 1, 3, 3),
          constants: { scales: floats([4], [1, 1, 2, 2]) },
          nodes: one('Resize', {
            in: ['x', '', 'scales'],
            attributes: { mode: string('linear'), coordinate_transformation_mode: string('align_corners') },
          }),
          outputs: ['y'],
        },
        'its coordinates are align_corners, not half_pixel: the weights are not periodic, or the border differs',
      ],
      [
        'resize-depth-to-space',
        {
          inputs: x(1, 1, 3, 3),
          constants: { scales: floats([4], [1, 1, 2, 3]) },
          nodes: one('Resize', {
            in: ['x', '', 'scales'],
            attributes: { nearest_mode: string('floor'), coordinate_transformation_mode: string('asymmetric') },
          }),
          outputs: ['y'],
        },
        'its factors are 2 for height and 3 for width; DepthToSpace needs equal factors',
      ],
      ...(
        [
          ['gather', [0], [4], [2], [1], 'its steps are all 1'],
          ['conv', [3], [-9], [2], [-1], 'it has a negative step, which a Conv does not support'],
          ['conv', [0], [2], [2], [2], 'it ends before the last element that the strided Conv would reach'],
          ['conv', [0], [4], [1], [2], 'it slices the batch or the channels'],
        ] as const
      ).map(([form, starts, ends, axes, steps, reason]): [string, SmallModel, string] => [
        `strided-slice/${form}`,
        {
          inputs: x(1, 4, 4, 4),
          constants: { starts: integers(starts), ends: integers(ends), axes: integers(axes), steps: integers(steps) },
          nodes: one('Slice', { in: ['x', 'starts', 'ends', 'axes', 'steps'] }),
          outputs: ['y'],
        },
        reason,
      ]),
      [
        'transpose-push',
        {
          inputs: { x: ['float32', [2, 3]], z: ['float32', [3, 2]] },
          nodes: [
            { op: 'Transpose', in: ['x'], out: ['t'] },
            { op: 'Add', in: ['t', 'z'], out: ['y'] },
          ],
          outputs: ['y'],
        },
        'another input is neither transposed in the same way nor a constant that can be reshaped',
      ],
      [
        'transpose-push',
        {
          inputs: x(2, 3),
          nodes: [
            { op: 'Transpose', in: ['x'], out: ['t'] },
            { op: 'Relu', in: ['t'], out: ['y'] },
          ],
          outputs: ['y', 't'],
        },
        'its input does not come from a Transpose that it alone reads',
      ],
      [
        'mish-sigmoid',
        {
          inputs: { x: ['float32', [4]], z: ['float32', [4]] },
          nodes: [
            { op: 'Softplus', in: ['z'], out: ['s'] },
            { op: 'Tanh', in: ['s'], out: ['t'] },
            { op: 'Mul', in: ['x', 't'], out: ['y'] },
          ],
          outputs: ['y'],
        },
        'it is not a product of x and tanh(softplus(x))',
      ],
      [
        'resize-scales',
        {
          opset: 18,
          inputs: x(1, 1, 4, 8),
          constants: { sizes: integers([7, 13]) },
          nodes: one('Resize', {
            in: ['x', '', '', 'sizes'],
            attributes: { mode: string('linear'), axes: ints([2, 3]), keep_aspect_ratio_policy: string('not_larger') },
          }),
          outputs: ['y'],
        },
        'its scales are computed, or are not the quotients of the sizes',
      ],
      [
        'batch-norm-conv',
        {
          opset: 9,
          inputs: x(1, 2, 3, 3),
          constants: { one: positive([1, 2]) },
          nodes: one('BatchNormalization', { in: ['x', 'one', 'one', 'one', 'one'], out: ['y', 'mean', 'variance', 'm', 'v'] }),
          outputs: ['y'],
        },
        'it is in training mode',
      ],
      [
        'affine-conv',
        {
          inputs: { x: ['float32', [1, 'C', 5, 5]] },
          constants: { offset: floats([3, 1, 1], [1, 2, 3]), w: randomConstant([2, 3, 3, 3]) },
          nodes: [
            { op: 'Sub', in: ['x', 'offset'], out: ['centered'] },
            { op: 'Conv', in: ['centered', 'w'], out: ['y'] },
          ],
          outputs: ['y'],
        },
        'its input does not come from a Mul, Div, Add or Sub by a constant per channel that it alone reads',
      ],
      [
        'group-conv/split',
        {
          inputs: x(1, 4, 3, 3),
          constants: { w: randomConstant([4, 1, 3, 3]) },
          nodes: one('Conv', { in: ['x', 'w'], attributes: { group: int(4) } }),
          outputs: ['y'],
        },
        'it is depthwise',
      ],
    ].filter(([, , reason]) => reason !== '') as [string, SmallModel, string][],
  )('%s declines, and says why', (rule, given, reason) => {
    const model = smallModel(given);
    const { rules } = rewriteModel(model, { rules: [{ rule: ruleOf(rule), matches: 'any' }], edits: [], check: listProblems });
    expect(rules[0]?.declined.map(entry => entry.reason)).toEqual([reason]);
    expect(operators(model)).toEqual(operators(smallModel(given)));
  });

  it('leave a Flatten that something else reads', () => {
    const model = smallModel({
      inputs: x(2, 3, 2, 2),
      constants: { w: randomConstant([12, 4]) },
      nodes: [
        { op: 'Flatten', in: ['x'], out: ['f'] },
        { op: 'Gemm', in: ['f', 'w'], out: ['y'] },
      ],
      outputs: ['y', 'f'],
    });
    apply(model, 'gemm-conv');
    expect(operators(model)).toEqual(['Flatten', 'Conv', 'Reshape']);
    expect(valueNames(model)).toContain('f');
  });
});
