/** Tests that rules keep all quantized values of quantized graphs. ONNX Runtime computes the integers before and after, node by node and with its integer kernels. */
import { int, ints } from '../../../../src/onnx/ir/attribute.js';
import type { Attribute, Constant, Model } from '../../../../src/onnx/ir/model.js';
import { rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { encodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { listProblems, operators } from '../../../support/look-at-model.js';
import { floats, integers, randomFloats, type SmallModel, type SmallNode, smallModel } from '../../../support/small-model.js';

const uint8 = (value: number): Constant => encodeRawTensor(makeTensor('uint8', [], Uint8Array.of(value)));
const scaled = (dims: readonly number[], seed: number, most: number): readonly number[] =>
  Array.from(randomFloats(dims, seed).data, value => Math.round(most * value));
/** Of 7 bits: ONNX Runtime's kernels for processors without VNNI add two products in 16 bits, which saturate with larger weights. */
const int8s = (dims: readonly number[], seed: number): Constant =>
  encodeRawTensor(makeTensor('int8', dims, Int8Array.from(scaled(dims, seed, 63))));
const int32s = (dims: readonly number[], seed: number): Constant =>
  encodeRawTensor(makeTensor('int32', dims, Int32Array.from(scaled(dims, seed, 900))));

interface Layer {
  readonly op: string;
  readonly weight: readonly number[];
  /** Output channels. */
  readonly outputs: number;
  /** Of the weight along which the channels lie; undefined: one scale for all. */
  readonly axis: number | undefined;
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly before?: readonly SmallNode[];
  readonly after?: readonly SmallNode[];
  readonly input: readonly number[];
}

/** Scales that are no powers of two; each channel has its own where there is an axis. */
function layerModel({ op, weight, outputs, axis, attributes = {}, before = [], after = [], input }: Layer): SmallModel {
  const count = axis === undefined ? 1 : outputs;
  const scales = Array.from({ length: count }, (_, index) => 0.004 + 0.0007 * index);
  const dims = axis === undefined ? [] : [count];
  const at = axis === undefined ? {} : { axis: int(axis) };
  const end = after.at(-1)?.out[0] ?? 'f';
  const x = before.at(-1)?.out[0] ?? 'd';
  return {
    inputs: { x: ['float32', input] },
    constants: {
      s: floats([], [0.0471]),
      z: uint8(119),
      t: floats([], [0.0913]),
      u: uint8(131),
      w: int8s(weight, 3),
      ws: floats(dims, scales),
      wz: encodeRawTensor(makeTensor('int8', dims, new Int8Array(count))),
      b: int32s([outputs], 4),
      bs: floats(
        dims,
        scales.map(scale => scale * 0.0471),
      ),
      bz: encodeRawTensor(makeTensor('int32', dims, new Int32Array(count))),
    },
    nodes: [
      { op: 'QuantizeLinear', in: ['x', 's', 'z'], out: ['q'] },
      { op: 'DequantizeLinear', in: ['q', 's', 'z'], out: ['d'] },
      ...before,
      { op: 'DequantizeLinear', in: ['w', 'ws', 'wz'], out: ['wd'], attributes: at },
      { op: 'DequantizeLinear', in: ['b', 'bs', 'bz'], out: ['bd'], attributes: axis === undefined ? {} : { axis: int(0) } },
      { op, name: 'layer', in: [x, 'wd', 'bd'], out: ['f'], attributes },
      ...after,
      { op: 'QuantizeLinear', in: [end, 't', 'u'], out: ['y'] },
    ],
    outputs: ['y'],
  };
}

const TRANSPOSED: Omit<Layer, 'axis'> = {
  op: 'ConvTranspose',
  weight: [6, 4, 2, 2],
  outputs: 4,
  attributes: { strides: ints([2, 2]) },
  input: [2, 6, 5, 4],
};
const GEMM: Omit<Layer, 'axis'> = { op: 'Gemm', weight: [24, 5], outputs: 5, input: [3, 24] };
const flatten: readonly SmallNode[] = [
  { op: 'Flatten', in: ['d'], out: ['fl'] },
  { op: 'QuantizeLinear', in: ['fl', 's', 'z'], out: ['flq'] },
  { op: 'DequantizeLinear', in: ['flq', 's', 'z'], out: ['fld'] },
];
const Q = 'QuantizeLinear';
const DQ = 'DequantizeLinear';
const IN = [Q, DQ];
const WEIGHTS = [DQ, DQ];

const relu: readonly SmallNode[] = [{ op: 'Relu', in: ['f'], out: ['r'] }];
const CASES: readonly (readonly [string, string, SmallModel, readonly string[]])[] = [
  [
    'conv-transpose-depth-to-space',
    'one scale',
    layerModel({ ...TRANSPOSED, axis: undefined }),
    [...IN, ...WEIGHTS, 'Conv', Q, DQ, 'DepthToSpace', Q],
  ],
  [
    'conv-transpose-depth-to-space',
    'a scale per channel',
    layerModel({ ...TRANSPOSED, axis: 1 }),
    [...IN, ...WEIGHTS, 'Conv', Q, DQ, 'DepthToSpace', Q],
  ],
  [
    'conv-transpose-depth-to-space',
    'a scale per channel, and Relu',
    layerModel({ ...TRANSPOSED, axis: 1, after: relu }),
    [...IN, ...WEIGHTS, 'Conv', 'Relu', Q, DQ, 'DepthToSpace', Q],
  ],
  ['gemm-conv', 'one scale', layerModel({ ...GEMM, axis: undefined }), [...IN, 'Reshape', Q, DQ, ...WEIGHTS, 'Conv', Q, DQ, 'Reshape', Q]],
  ['gemm-conv', 'a scale per column', layerModel({ ...GEMM, axis: 1 }), [...IN, 'Reshape', Q, DQ, ...WEIGHTS, 'Conv', Q, DQ, 'Reshape', Q]],
  [
    'gemm-conv',
    'a scale per row, transposed, behind a Flatten of the same scale',
    layerModel({ ...GEMM, weight: [5, 24], attributes: { transB: int(1) }, axis: 0, before: flatten, input: [3, 2, 3, 4] }),
    [...IN, ...WEIGHTS, 'Conv', Q, DQ, 'Reshape', Q],
  ],
  [
    'conv-1d',
    'a scale per channel',
    layerModel({ op: 'Conv', weight: [4, 3, 3], outputs: 4, axis: 0, attributes: { pads: ints([1, 1]) }, input: [2, 3, 9] }),
    [...IN, DQ, 'Unsqueeze', Q, DQ, DQ, 'Conv', Q, DQ, 'Squeeze', Q],
  ],
  [
    'reduce-mean-pool',
    'without keeping the axes',
    pooled([{ op: 'ReduceMean', in: ['d'], out: ['f'], attributes: { axes: ints([2, 3]), keepdims: int(0) } }]),
    [...IN, 'GlobalAveragePool', Q, DQ, 'Flatten', Q],
  ],
  [
    'split-slice',
    'three parts',
    {
      ...pooled([
        { op: 'Split', in: ['d', 'sizes'], out: ['a', 'b', 'c'], attributes: { axis: int(1) } },
        { op: Q, in: ['a', 's', 'z'], out: ['qa'] },
        { op: Q, in: ['c', 's', 'z'], out: ['qc'] },
      ]),
      outputs: ['qa', 'qc'],
    },
    [...IN, 'Slice', 'Slice', Q, Q],
  ],
  ...(['slice', 'depthwise', 'delta'] as const).map(form => {
    const pool: SmallNode = { op: 'MaxPool', in: ['d'], out: ['f'], attributes: { kernel_shape: ints([1, 1]), strides: ints([2, 2]) } };
    return [
      `maxpool-1x1/${form}`,
      'between equal scales',
      pooled([pool], 's', 'z'),
      form === 'slice' ? [...IN, 'Slice', Q] : [...IN, DQ, 'Conv', Q],
    ] as const;
  }),
];

function pooled(nodes: readonly SmallNode[], scale = 't', zero = 'u'): SmallModel {
  return {
    inputs: { x: ['float32', [2, 5, 6, 7]] },
    constants: { s: floats([], [0.0471]), z: uint8(119), t: floats([], [0.0113]), u: uint8(131), sizes: integers([1, 2, 2]) },
    nodes: [
      { op: Q, in: ['x', 's', 'z'], out: ['q'] },
      { op: DQ, in: ['q', 's', 'z'], out: ['d'] },
      ...nodes,
      ...(nodes.at(-1)?.op === Q ? [] : [{ op: Q, in: ['f', scale, zero], out: ['y'] }]),
    ],
    outputs: ['y'],
  };
}

async function run(model: Model, feeds: Readonly<Record<string, Tensor>>, optimization: 'disabled' | 'all') {
  const session = await openSession(encodeModel(model), { optimization });
  try {
    return await session.run(feeds);
  } finally {
    await session.close();
  }
}

function apply(model: Model, rule: string) {
  const [name = '', form] = rule.split('/');
  return rewriteModel(model, { rules: [{ rule: getRule(name, form), matches: 'any' }], edits: [], check: listProblems });
}

const feedsOf = ({ inputs }: SmallModel): Record<string, Tensor> => ({
  x: ((random: Tensor<'float32'>) => ({ ...random, data: random.data.map(value => 6 * value) }))(
    randomFloats((inputs.x?.[1] ?? []).map(Number), 7),
  ),
});

describe('rules in a quantized graph', () => {
  it.each(CASES)('%s: %s: every integer stays', async (rule, _, given, becomes) => {
    const model = smallModel(given);
    apply(model, rule);
    expect(operators(model)).toEqual(becomes);
    const feeds = feedsOf(given);
    const before = await run(smallModel(given), feeds, 'disabled');
    expect(await run(model, feeds, 'disabled')).toEqual(before);
    // With integer kernels where ONNX Runtime has them; it has none for ConvTranspose.
    if (!rule.startsWith('conv-transpose')) expect(await run(model, feeds, 'all')).toEqual(await run(smallModel(given), feeds, 'all'));
    const again = operators(model);
    apply(model, rule);
    expect(operators(model)).toEqual(again);
  });

  it('a ConvTranspose on integer kernels differs by what its sums round, not by the rewriting', async () => {
    // Powers of two: every product and sum is exact in float32, so that integers and floats agree.
    const given = layerModel({ ...TRANSPOSED, axis: undefined });
    const exact = {
      ...given,
      constants: {
        ...given.constants,
        s: floats([], [2 ** -4]),
        ws: floats([], [2 ** -8]),
        bs: floats([], [2 ** -12]),
        t: floats([], [2 ** -3]),
      },
    };
    const model = smallModel(exact);
    apply(model, 'conv-transpose-depth-to-space');
    const before = await run(smallModel(exact), feedsOf(exact), 'disabled');
    for (const optimization of ['disabled', 'all'] as const) expect(await run(model, feedsOf(exact), optimization)).toEqual(before);
  });

  it('unshare-constants gives each layer its own integers, and keeps scales', async () => {
    const given: SmallModel = {
      inputs: { x: ['float32', [1, 3, 4, 4]] },
      constants: { w: int8s([3, 3, 1, 1], 3), s: floats([], [0.0471]), z: encodeRawTensor(makeTensor('int8', [], Int8Array.of(0))) },
      nodes: [
        { op: DQ, in: ['w', 's', 'z'], out: ['d'] },
        { op: DQ, in: ['w', 's', 'z'], out: ['e'] },
        { op: 'Conv', in: ['x', 'd'], out: ['a'] },
        { op: 'Conv', in: ['a', 'd'], out: ['b'] },
        { op: 'Conv', in: ['b', 'e'], out: ['c'] },
      ],
      outputs: ['c'],
    };
    const model = smallModel(given);
    apply(model, 'unshare-constants');
    expect(operators(model).filter(op => op === DQ)).toHaveLength(3);
    const stored = [...model.graph.nodes.values()].filter(({ opType }) => opType === DQ).map(({ inputs }) => inputs[0]);
    expect(new Set(stored).size).toBe(3);
    expect(await run(model, feedsOf(given), 'disabled')).toEqual(await run(smallModel(given), feedsOf(given), 'disabled'));
    const again = operators(model);
    apply(model, 'unshare-constants');
    expect(operators(model)).toEqual(again);
  });

  const four: Layer = { op: 'Conv', weight: [4, 9, 1, 1], outputs: 4, axis: 0, input: [1, 8, 4, 4] };
  it.each<[string, SmallModel, string]>([
    [
      'conv-of-concat',
      layerModel({
        ...four,
        before: [
          { op: 'Slice', in: ['d', 'from', 'to', 'along'], out: ['m'] },
          { op: 'Concat', in: ['d', 'm'], out: ['j'], attributes: { axis: int(1) } },
        ],
      }),
      'its weight is quantized, so each part would be rounded separately: rewrite before quantization',
    ],
    ['conv-transpose-depth-to-space', layerModel({ ...TRANSPOSED, axis: 0, outputs: 6 }), 'its weight has a scale per input channel'],
    ['gemm-conv', layerModel({ ...GEMM, axis: 0, outputs: 24 }), 'its weight has a scale per input column'],
    [
      'conv-1d',
      layerModel({ op: 'Conv', weight: [4, 3, 3], outputs: 3, axis: 1, input: [2, 3, 9] }),
      'its weight has a scale per input channel',
    ],
  ])('%s declines, and says why: %#', (rule, given, reason) => {
    const model = smallModel({ ...given, constants: { ...given.constants, from: integers([0]), to: integers([1]), along: integers([1]) } });
    const { rules } = apply(model, rule);
    expect(rules[0]?.declined.map(entry => entry.reason)).toEqual([reason]);
  });
});
