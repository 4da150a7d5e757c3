/** Tests of shape inference. */
import { float, floats as floatsAttribute, int, ints, string, tensor } from '../../../../src/onnx/ir/attribute.js';
import type { Attribute, Constant, Dim, ValueId } from '../../../../src/onnx/ir/model.js';
import { inferShapes, writeTypes } from '../../../../src/onnx/shape-inference/infer-shapes.js';
import type { DType } from '../../../../src/tensor/dtype.js';
import { failureOf } from '../../../support/error-code.js';
import { floats, integers, type SmallModel, smallModel } from '../../../support/small-model.js';

const typesOf = (spec: SmallModel): Record<string, { dtype: DType | undefined; dims: readonly Dim[] | undefined }> => {
  const model = smallModel(spec);
  const types = inferShapes(model);
  return Object.fromEntries(
    [...model.graph.values.values()].map(({ id, name }) => [name, { dtype: types.get(id)?.dtype, dims: types.get(id)?.dims }]),
  );
};

type Row = [
  op: string,
  inputs: (readonly Dim[] | Constant)[],
  attributes: Record<string, Attribute>,
  outputs: (readonly Dim[])[],
  opset?: number,
];

const isConstant = (input: readonly Dim[] | Constant): input is Constant => !Array.isArray(input);

/** Shapes by the operators' specifications, worked out by hand. */
const ROWS: Row[] = [
  ['Resize', [[1, 1, 10, 100], [0], floats([4], [1, 1, 0.7, 0.29])], {}, [[1, 1, 7, 29]]],
  [
    'Einsum',
    [
      [1, 3],
      [2, 3],
    ],
    { equation: string('ij,ij->ij') },
    [[2, 3]],
  ],
  [
    'GridSample',
    [
      [2, 3, 8, 9],
      [2, 4, 5, 2],
    ],
    {},
    [[2, 3, 4, 5]],
  ],
  ['AffineGrid', [['n', 2, 3], integers([4, 3, 5, 6])], {}, [[4, 5, 6, 2]], 20],
  ['Col2Im', [[1, 18, 20], integers([6, 7]), integers([3, 2])], {}, [[1, 3, 6, 7]], 18],
  [
    'DeformConv',
    [
      [1, 4, 7, 7],
      [8, 4, 3, 3],
      [1, 18, 5, 5],
    ],
    {},
    [[1, 8, 5, 5]],
    19,
  ],
  ['CenterCropPad', [[3, 20, 10], integers([10, 12])], { axes: ints([-2, -1]) }, [[3, 10, 12]], 18],
  [
    'MaxUnpool',
    [
      [1, 2, 3, 3],
      [1, 2, 3, 3],
    ],
    { kernel_shape: ints([2, 2]), strides: ints([2, 2]) },
    [[1, 2, 6, 6]],
  ],
  [
    'LSTM',
    [
      [5, 2, 8],
      [2, 64, 8],
      [2, 64, 16],
    ],
    { hidden_size: int(16) },
    [
      [5, 2, 2, 16],
      [2, 2, 16],
      [2, 2, 16],
    ],
  ],
  [
    'GRU',
    [
      [2, 5, 8],
      [1, 48, 8],
      [1, 48, 16],
    ],
    { layout: int(1) },
    [
      [2, 5, 1, 16],
      [2, 1, 16],
    ],
  ],
  [
    'Attention',
    [
      [2, 8, 4, 16],
      [2, 2, 6, 16],
      [2, 2, 6, 24],
    ],
    {},
    [[2, 8, 4, 24]],
    23,
  ],
  [
    'Attention',
    [
      [2, 4, 24],
      [2, 6, 24],
      [2, 6, 30],
    ],
    { q_num_heads: int(3), kv_num_heads: int(3) },
    [
      [2, 4, 30],
      [2, 3, 6, 8],
      [2, 3, 6, 10],
    ],
    23,
  ],
  [
    'Einsum',
    [
      ['n', 3, 4],
      ['n', 4, 5],
    ],
    { equation: string('bij,bjk->bik') },
    [['n', 3, 5]],
  ],
  [
    'Einsum',
    [
      [2, 3, 4],
      [4, 5],
    ],
    { equation: string('...j,jk') },
    [[2, 3, 5]],
  ],
  ['Einsum', [[5, 5]], { equation: string('ii') }, [[]]],
  ['Det', [[2, 3, 3]], {}, [[2]]],
  ['DFT', [[1, 10, 1], integers([16])], { onesided: int(1), axis: int(1) }, [[1, 9, 2]]],
  [
    'SoftmaxCrossEntropyLoss',
    [
      [3, 5, 2],
      [3, 2],
    ],
    { reduction: string('none') },
    [
      [3, 2],
      [3, 5, 2],
    ],
  ],
  ['NegativeLogLikelihoodLoss', [[3, 5], [3]], {}, [[]]],
  ['ReduceSum', [[3, 2, 2], integers([])], { noop_with_empty_axes: int(1) }, [[3, 2, 2]]],
  [
    'Conv',
    [
      [1, 3, 224, 224],
      [64, 3, 7, 7],
    ],
    { strides: ints([2, 2]), pads: ints([3, 3, 3, 3]) },
    [[1, 64, 112, 112]],
  ],
  [
    'Conv',
    [
      ['n', 8, 'h', 9],
      [8, 1, 3, 3],
    ],
    { group: int(8), dilations: ints([2, 2]) },
    [['n', 8, 'unk__0', 5]],
  ],
  [
    'Conv',
    [
      [1, 3, 7, 8],
      [4, 3, 3, 3],
    ],
    { auto_pad: string('SAME_UPPER'), strides: ints([2, 2]) },
    [[1, 4, 4, 4]],
  ],
  [
    'ConvTranspose',
    [
      [2, 4, 14, 14],
      [4, 6, 2, 2],
    ],
    { strides: ints([2, 2]) },
    [[2, 6, 28, 28]],
  ],
  [
    'ConvTranspose',
    [
      [1, 4, 5, 5],
      [4, 3, 3, 3],
    ],
    { group: int(2), strides: ints([2, 2]), pads: ints([1, 1, 1, 1]), output_padding: ints([1, 1]) },
    [[1, 6, 10, 10]],
  ],
  ['MaxPool', [[1, 2, 17, 30]], { kernel_shape: ints([1, 1]), strides: ints([2, 2]) }, [[1, 2, 9, 15]]],
  ['MaxPool', [[1, 2, 6, 7]], { kernel_shape: ints([2, 2]), strides: ints([2, 2]), ceil_mode: int(1) }, [[1, 2, 3, 4]]],
  ['AveragePool', [[1, 2, 4, 4]], { kernel_shape: ints([1, 1]), strides: ints([3, 3]), ceil_mode: int(1) }, [[1, 2, 2, 2]]],
  ['MaxPool', [[1, 2, 9, 9]], { kernel_shape: ints([3, 3]), auto_pad: string('SAME_UPPER'), strides: ints([2, 2]) }, [[1, 2, 5, 5]]],
  [
    'MaxPool',
    [[1, 2, 9, 9]],
    { kernel_shape: ints([3, 3]), auto_pad: string('SAME_UPPER'), dilations: ints([2, 2]) },
    [[1, 2, 'unk__0', 'unk__1']],
  ],
  ['GlobalAveragePool', [['n', 5, 7, 7]], {}, [['n', 5, 1, 1]]],
  [
    'Gemm',
    [
      ['n', 12544],
      [1024, 12544],
    ],
    { transB: int(1) },
    [['n', 1024]],
  ],
  [
    'MatMul',
    [
      [2, 1, 3, 4],
      [5, 4, 6],
    ],
    {},
    [[2, 5, 3, 6]],
  ],
  ['MatMul', [[4], [4, 6]], {}, [[6]]],
  ['Flatten', [['n', 3, 7, 7]], {}, [['n', 147]]],
  ['Reshape', [[2, 3, 4], integers([0, -1])], {}, [[2, 12]]],
  ['Reshape', [['n', 8, 2], integers([-1, 16])], {}, [['unk__0', 16]]],
  ['Transpose', [[1, 2, 3]], {}, [[3, 2, 1]]],
  ['Squeeze', [[1, 2, 1], integers([0, -1])], {}, [[2]]],
  ['Squeeze', [[1, 2, 1]], { axes: ints([0]) }, [[2, 1]], 11],
  ['Unsqueeze', [[2, 3], integers([0, 3])], {}, [[1, 2, 3, 1]]],
  ['Slice', [[10, 20], integers([-3, 0]), integers([99, -1]), integers([0, 1]), integers([1, 2])], {}, [[3, 10]]],
  ['Slice', [[10], integers([-1]), integers([-99]), integers([0]), integers([-1])], {}, [[10]]],
  [
    'Concat',
    [
      [1, 2, 'h'],
      [1, 3, 'h'],
    ],
    { axis: int(1) },
    [[1, 5, 'h']],
  ],
  [
    'Split',
    [[7, 2]],
    { axis: int(0) },
    [
      [4, 2],
      [3, 2],
    ],
  ],
  [
    'Split',
    [[7, 2], integers([1, 6])],
    { axis: int(0) },
    [
      [1, 2],
      [6, 2],
    ],
  ],
  ['Gather', [[5, 6, 7], integers([1, 2])], { axis: int(1) }, [[5, 2, 7]]],
  [
    'GatherND',
    [
      [5, 6, 7],
      [3, 2],
    ],
    {},
    [[3, 7]],
  ],
  ['Pad', [[1, 2], integers([1, 0, 2, 3])], {}, [[4, 5]]],
  ['Expand', [[3, 1], integers([2, 1, 4])], {}, [[2, 3, 4]]],
  ['Tile', [[2, 'n'], integers([3, 1])], {}, [[6, 'n']]],
  [
    'TopK',
    [[2, 9], integers([4])],
    {},
    [
      [2, 4],
      [2, 4],
    ],
  ],
  ['Resize', [[1, 2, 5, 6], [0], floats([4], [1, 1, 2, 0.5])], {}, [[1, 2, 10, 3]]],
  ['Resize', [[1, 2, 5, 6], [0], floats([0], []), integers([1, 2, 9, 9])], {}, [[1, 2, 9, 9]]],
  ['Resize', [[1, 2, 5, 6], floats([4], [1, 1, 2, 2])], {}, [[1, 2, 10, 12]], 10],
  ['Upsample', [[1, 2, 5, 6]], { scales: floatsAttribute([1, 1, 2, 2]) }, [[1, 2, 10, 12]], 7],
  ['ReduceMean', [[2, 3, 4]], { axes: ints([1]), keepdims: int(0) }, [[2, 4]]],
  ['ReduceSum', [[2, 3, 4], integers([-1])], {}, [[2, 3, 1]]],
  ['ArgMax', [[2, 3, 4]], { axis: int(1), keepdims: int(0) }, [[2, 4]]],
  ['DepthToSpace', [[1, 8, 3, 3]], { blocksize: int(2) }, [[1, 2, 6, 6]]],
  ['SpaceToDepth', [[1, 2, 6, 6]], { blocksize: int(2) }, [[1, 8, 3, 3]]],
  [
    'Add',
    [
      ['n', 1, 4],
      [3, 1],
    ],
    {},
    [['n', 3, 4]],
  ],
  ['Where', [[2, 1], [1, 3], []], {}, [[2, 3]]],
  ['BatchNormalization', [[1, 3, 4, 4], [3], [3], [3], [3]], { epsilon: float(1) }, [[1, 3, 4, 4]]],
  ['RoiAlign', [[1, 8, 50, 50], ['rois', 4], ['rois']], { output_height: int(7), output_width: int(7) }, [['rois', 8, 7, 7]]],
  ['ConstantOfShape', [integers([2, 3])], { value: tensor(integers([1])) }, [[2, 3]]],
  ['Range', [[], [], []], {}, [['unk__0']]],
  ['NonZero', [[2, 3]], {}, [[2, 'unk__0']]],
  ['OneHot', [[2, 3], integers([5]), [2]], { axis: int(1) }, [[2, 5, 3]]],
];

describe('shape inference', () => {
  it('uses the dtype attribute of a random tensor, else the dtype of its input', () => {
    const dtypeOf = (attributes: Record<string, Attribute>): DType | undefined =>
      typesOf({
        opset: 15,
        inputs: { x: ['float32', [10]] },
        nodes: [{ op: 'Bernoulli', in: ['x'], out: ['y'], attributes }],
        outputs: ['y'],
      }).y?.dtype;
    expect([dtypeOf({ dtype: int(11) }), dtypeOf({})]).toEqual(['float64', 'float32']);
  });

  it.each(
    ROWS.map(row => [`${row[0]} of ${row[1].map(input => (isConstant(input) ? 'constant' : `[${input}]`)).join(', ')}`, row] as const),
  )('%s', (_, [op, inputs, attributes, outputs, opset]) => {
    const names = inputs.map((_, index) => `i${index}`);
    const types = typesOf({
      opset: opset ?? 17,
      inputs: Object.fromEntries(inputs.flatMap((input, index) => (isConstant(input) ? [] : [[`i${index}`, ['float32', input]]]))),
      constants: Object.fromEntries(inputs.flatMap((input, index) => (isConstant(input) ? [[`i${index}`, input]] : []))),
      nodes: [{ op, in: names, out: outputs.map((_, index) => `o${index}`), attributes }],
      outputs: [],
    });
    expect(outputs.map((_, index) => types[`o${index}`]?.dims)).toEqual(outputs);
  });

  it('carries sizes through Shape, Gather, arithmetic, Concat and Cast', () => {
    const types = typesOf({
      inputs: { x: ['float32', ['n', 6, 4, 5]] },
      constants: { one: integers([1]), two: integers([2]), from: integers([2]), to: integers([4]) },
      nodes: [
        { op: 'Shape', in: ['x'], out: ['shape'] },
        { op: 'Gather', in: ['shape', 'one'], out: ['channels'] },
        { op: 'Div', in: ['channels', 'two'], out: ['half'] },
        { op: 'Slice', in: ['shape', 'from', 'to'], out: ['spatial'] },
        { op: 'Cast', in: ['spatial'], out: ['cast'], attributes: { to: int(7) } },
        { op: 'Concat', in: ['half', 'two', 'cast'], out: ['target'], attributes: { axis: int(0) } },
        { op: 'Expand', in: ['one', 'target'], out: ['y'] },
      ],
      outputs: [],
    });
    expect(types.y).toEqual({ dtype: 'int64', dims: [3, 2, 4, 5] });
  });

  it('gives sizes that are surely equal one name, and keeps the names of the model', () => {
    const types = typesOf({
      inputs: { x: ['float32', ['batch', 3, 'h', 'w']] },
      constants: { w: floats([3, 3, 1, 1], [1, 0, 0, 0, 1, 0, 0, 0, 1]) },
      nodes: [
        { op: 'Conv', in: ['x', 'w'], out: ['c'] },
        { op: 'Relu', in: ['c'], out: ['r'] },
        { op: 'Add', in: ['c', 'r'], out: ['y'] },
      ],
      outputs: [],
    });
    expect(types.y?.dims).toEqual(['batch', 3, 'unk__0', 'unk__1']);
  });

  it('writes made names as unknown sizes', () => {
    const model = smallModel({
      inputs: { x: ['float32', ['h']] },
      nodes: [{ op: 'NonZero', in: ['x'], out: ['y'] }],
      outputs: ['y'],
    });
    writeTypes(model, inferShapes(model));
    expect([...model.graph.values.values()][1]?.type).toEqual({ kind: 'tensor', dtype: 'int64', dims: [1, undefined] });
  });

  it.each([
    [
      'shape',
      { kind: 'tensor', dtype: 'float32', dims: [1, 4] },
      'Relu "r": value "r" is declared as float32 [1, 4], but inferred as float32 [1, 3]',
    ],
    ['rank', { kind: 'tensor', dtype: 'float32', dims: [1] }, 'declared as float32 [1]'],
    ['dtype', { kind: 'tensor', dtype: 'int8', dims: [1, 3] }, 'declared as int8 [1, 3]'],
  ] as const)('a stated %s that contradicts is an error with node, value and both', async (_, type, message) => {
    const model = smallModel({ inputs: { x: ['float32', [1, 3]] }, nodes: [{ op: 'Relu', in: ['x'], out: ['r'] }], outputs: ['r'] });
    for (const value of model.graph.values.values()) if (value.name === 'r') value.type = type;
    const failure = await failureOf(() => inferShapes(model));
    expect(failure.code).toBe('shape-contradiction');
    expect(failure.message).toContain(message);
    expect(inferShapes(model, { stated: 'ignore' }).size).toBe(2);
  });

  it.each([
    [
      'Conv',
      [
        [1, 3, 224, 224],
        [8, 64, 3, 3],
      ],
      {},
      'Conv "y": weight expects 64 input channels, input "a" ([1, 3, 224, 224]) has 3',
    ],
    [
      'Conv',
      [
        [1, 3, 2, 2],
        [8, 3, 3, 3],
      ],
      {},
      'is larger than axis',
    ],
    ['Add', [[2], [3]], {}, 'do not broadcast'],
    [
      'MatMul',
      [
        [2, 3],
        [4, 5],
      ],
      {},
      'inner dims differ',
    ],
    [
      'Gemm',
      [
        [2, 3],
        [4, 5],
      ],
      {},
      'inner dims differ',
    ],
    [
      'Concat',
      [
        [2, 3],
        [2, 4],
      ],
      { axis: int(0) },
      'differ on axis 1',
    ],
    ['Concat', [[2, 3], [2]], { axis: int(0) }, 'different ranks'],
    ['Transpose', [[2, 3]], { perm: ints([0]) }, 'does not match'],
    ['Gather', [[2, 3], [1]], { axis: int(2) }, 'axis 2'],
  ] as const)('%s refuses inputs %j', async (op, [a, b = []], attributes, message) => {
    const failure = await failureOf(() =>
      typesOf({
        inputs: { a: ['float32', a], b: ['float32', b] },
        nodes: [{ op, in: op === 'Transpose' ? ['a'] : ['a', 'b'], out: ['y'], attributes }],
        outputs: [],
      }),
    );
    expect(failure.code).toBe('shape-mismatch');
    expect(failure.message).toContain(message);
  });
});

describe('initializers that are also inputs', () => {
  const dimsOf = (constants: Readonly<Record<string, Constant>>): readonly Dim[] | undefined => {
    const model = smallModel({
      inputs: { x: ['float32', [2, 3, 4]] },
      constants,
      nodes: [{ op: 'Reshape', in: ['x', 'shape'], out: ['y'] }],
      outputs: ['y'],
    });
    const find = (name: string) => [...model.graph.values.values()].find(value => value.name === name)?.id as ValueId;
    model.graph.inputs.push(find('shape'));
    return inferShapes(model).get(find('y'))?.dims;
  };

  it('are constant where every initializer is listed, as older exporters do', () => {
    expect(dimsOf({ shape: integers([2, 12]) })).toEqual([2, 12]);
  });

  it('may be overridden where others are not listed', () => {
    expect(dimsOf({ shape: integers([2, 12]), other: integers([1]) })).toEqual([expect.any(String), expect.any(String)]);
  });
});
