/** Random small models for property tests of the passes: random instructions, each of which becomes nodes where its shapes allow, in the main graph and in the bodies of If and Loop. */
import * as fc from 'fast-check';
import { float, int, ints, string } from '../../src/onnx/ir/attribute.js';
import { addInitializer, addInput, addNode, makeModel } from '../../src/onnx/ir/edit.js';
import type { Attribute, Constant, Graph, Model, Node, ValueId } from '../../src/onnx/ir/model.js';
import { encodeRawTensor } from '../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../src/tensor/tensor.js';
import { floats, integers, randomConstant } from './small-model.js';

const OPERATORS = [
  ...['Relu', 'Sigmoid', 'Identity', 'Dropout', 'Cast', 'Neg', 'Clip', 'HardSwish', 'Swish', 'ClippedSwish', 'Gelu', 'Mish', 'Softplus'],
  ...['AddConstant', 'MulConstant', 'DivConstant', 'SubPerChannel', 'MulPerChannel', 'Add', 'Mul', 'Concat', 'Split', 'ConstantChain'],
  ...['Conv', 'GroupConv', 'Depthwise', 'ConvTranspose', 'BatchNormalization', 'Pad', 'MaxPool', 'AveragePool', 'Subsample', 'GlobalPool'],
  ...[
    'Transpose',
    'TransposeBack',
    'Reshape',
    'ComputedReshape',
    'Flatten',
    'Unsqueeze',
    'Squeeze',
    'Slice',
    'SliceBack',
    'Gather',
    'Expand',
  ],
  ...[
    'ConvNorm',
    'JoinedNorm',
    'PadConv',
    'TransposeTwice',
    'Gemm',
    'MatMulAdd',
    'ReduceMean',
    'LayerNorm',
    'ResizeNearest',
    'ResizeLinear',
    'DepthToSpace',
    'SpaceToDepth',
    'Quantize',
  ],
  ...['ConstantIf', 'If', 'ConstantLoop', 'Loop'],
] as const;

export interface Instruction {
  readonly op: (typeof OPERATORS)[number];
  /** Which tensors it reads, counted from the last. */
  readonly first: number;
  readonly second: number;
  /** Picks sizes and constants. */
  readonly seed: number;
  /** What stands in the body of an If or Loop. */
  readonly body: readonly Instruction[];
}

const { instruction } = fc.letrec<{ instruction: Instruction }>(tie => ({
  instruction: fc.record({
    op: fc.constantFrom(...OPERATORS),
    first: fc.oneof({ arbitrary: fc.constant(0), weight: 5 }, { arbitrary: fc.nat(3), weight: 1 }),
    second: fc.nat(5),
    seed: fc.nat(1000),
    body: fc.oneof({ depthSize: 'small' }, fc.constant([]), fc.array(tie('instruction'), { maxLength: 4 })),
  }),
}));

/** Instructions for `buildGraph`. */
export const instructions: fc.Arbitrary<readonly Instruction[]> = fc.array(instruction, { minLength: 1, maxLength: 20, size: 'max' });

interface Tensor {
  readonly id: ValueId;
  readonly dims: readonly number[];
}

/** One graph on its way: what can be read in it, also from around. */
interface Building {
  readonly model: Model;
  readonly graph: Graph;
  readonly opset: number;
  readonly tensors: Tensor[];
  /** A condition and a count that only a caller knows. */
  readonly free: { readonly condition: ValueId; readonly count: ValueId };
}

export const INPUT_DIMS = [1, 4, 6, 6] as const;

/** Inputs "x" [1, 4, 6, 6], "condition" and "count"; the last tensors are outputs. Every graph loads in ONNX Runtime. */
export function buildGraph(list: readonly Instruction[], opset = 17): Model {
  const model = makeModel({ opset, irVersion: 8, graphName: 'random' });
  const { graph } = model;
  const x = addInput(model, graph, 'x', { kind: 'tensor', dtype: 'float32', dims: [...INPUT_DIMS] });
  const condition = addInput(model, graph, 'condition', { kind: 'tensor', dtype: 'bool', dims: [] });
  const count = addInput(model, graph, 'count', { kind: 'tensor', dtype: 'int64', dims: [] });
  const free = { condition: condition.id, count: count.id };
  const building: Building = { model, graph, opset, tensors: [{ id: x.id, dims: INPUT_DIMS }], free };
  for (const step of list) build(building, step, 'bodies');
  const made = building.tensors.filter(({ id }) => graph.values.get(id)?.producer !== undefined);
  if (made.length === 0) made.push(put(building, 'Relu', [x.id], INPUT_DIMS));
  for (const { id, dims } of new Set([made[made.length - 1], made[made.length >> 1]].filter(tensor => tensor !== undefined))) {
    const value = graph.values.get(id);
    if (value === undefined) continue;
    value.type = { kind: 'tensor', dtype: 'float32', dims };
    graph.outputs.push(id);
  }
  return model;
}

const freshName = ({ model }: Building): string => `v${model.nextId}`;

function constantOf(b: Building, constant: Constant): ValueId {
  return addInitializer(b.model, b.graph, freshName(b), constant).id;
}

function addOp(
  b: Building,
  opType: string,
  inputs: readonly (ValueId | undefined)[],
  options: { attributes?: Readonly<Record<string, Attribute>>; outputs?: number } = {},
): Node {
  const base = freshName(b);
  const outputs = Array.from({ length: options.outputs ?? 1 }, (_, index) => `${base}_${index}`);
  return addNode(b.model, b.graph, { opType, inputs, outputs, attributes: options.attributes ?? {} });
}

const first = (node: Node): ValueId => node.outputs[0] as ValueId;

/** A node whose output is a tensor that later instructions read. */
function put(
  b: Building,
  opType: string,
  inputs: readonly (ValueId | undefined)[],
  dims: readonly number[],
  attributes: Readonly<Record<string, Attribute>> = {},
): Tensor {
  const tensor = { id: first(addOp(b, opType, inputs, { attributes })), dims };
  b.tensors.push(tensor);
  return tensor;
}

/** What passes look for stands together rarely by chance. */
const COMPOUNDS = {
  ConvNorm: ['Conv', 'BatchNormalization'],
  PadConv: ['Pad', 'Conv'],
  TransposeTwice: ['Transpose', 'TransposeBack'],
} as const;

const sizeOf = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);
const MOST_ELEMENTS = 4000;

function build(b: Building, step: Instruction, bodies: 'bodies' | 'flat'): void {
  const take = (back: number): Tensor => b.tensors[Math.max(0, b.tensors.length - 1 - back)] as Tensor;
  const [x, other] = [take(step.first), take(step.second)];
  const { dims } = x;
  const { seed } = step;
  const [, channels = 1, height = 1, width = 1] = dims;
  const isImage = dims.length === 4 && dims[0] === 1;
  const scalar = (value: number): ValueId => constantOf(b, floats([], [value]));
  const weights = (shape: readonly number[]): ValueId => constantOf(b, randomConstant(shape, seed + 1));
  const perChannel = isImage ? [channels, 1, 1] : dims.slice(-1);
  const same = (op: string, more: readonly ValueId[] = [], attributes = {}): Tensor => put(b, op, [x.id, ...more], dims, attributes);
  switch (step.op) {
    case 'Relu':
    case 'Sigmoid':
    case 'Identity':
    case 'Neg':
    case 'HardSwish':
    case 'Softplus':
      same(step.op);
      return;
    case 'Dropout':
      same('Dropout');
      return;
    case 'Cast':
      same('Cast', [], { to: int(1) });
      return;
    case 'Clip':
      put(b, 'Clip', [x.id, scalar(0), seed % 2 === 0 ? undefined : scalar(6)], dims);
      return;
    case 'Swish':
      put(b, 'Mul', [x.id, first(addOp(b, 'Sigmoid', [x.id]))], dims);
      return;
    case 'ClippedSwish': {
      const clipped = addOp(b, 'Clip', [first(addOp(b, 'Add', [x.id, scalar(3)])), scalar(0), scalar(6)]);
      put(b, 'Div', [first(addOp(b, 'Mul', [x.id, first(clipped)])), scalar(6)], dims);
      return;
    }
    case 'Gelu': {
      const erf = addOp(b, 'Erf', [first(addOp(b, 'Div', [x.id, scalar(Math.SQRT2)]))]);
      const sum = addOp(b, 'Add', [first(erf), scalar(1)]);
      put(b, 'Mul', [first(addOp(b, 'Mul', [x.id, first(sum)])), scalar(0.5)], dims);
      return;
    }
    case 'Mish':
      put(b, 'Mul', [x.id, first(addOp(b, 'Tanh', [first(addOp(b, 'Softplus', [x.id]))]))], dims);
      return;
    case 'AddConstant':
      same('Add', [scalar(seed % 7)]);
      return;
    case 'MulConstant':
      same('Mul', [scalar([1, 0.5, -1][seed % 3] ?? 1)]);
      return;
    case 'DivConstant':
      same('Div', [scalar([1, 2, 3][seed % 3] ?? 1)]);
      return;
    case 'SubPerChannel':
      same('Sub', [weights(perChannel)]);
      return;
    case 'MulPerChannel':
      put(b, 'Mul', [weights(perChannel), x.id], dims);
      return;
    case 'Add':
    case 'Mul':
      if (other.dims.join() === dims.join()) put(b, step.op, [x.id, other.id], dims);
      else same('Relu');
      return;
    case 'Concat': {
      const fits = other.dims.length === dims.length && dims.every((dim, axis) => axis === 1 || dim === other.dims[axis]);
      if (!fits || dims.length < 2 || sizeOf(dims) + sizeOf(other.dims) > MOST_ELEMENTS) return;
      const joined = dims.map((dim, axis) => (axis === 1 ? dim + (other.dims[1] ?? 0) : dim));
      put(b, 'Concat', [x.id, other.id], joined, { axis: int(seed % 2 === 0 ? 1 : 1 - dims.length) });
      return;
    }
    case 'Split': {
      const axis = seed % dims.length;
      const size = dims[axis] ?? 1;
      if (size < 2) return;
      const [left, right] = [1, size - 1];
      const node = addOp(b, 'Split', [x.id, constantOf(b, integers([left, right]))], { attributes: { axis: int(axis) }, outputs: 2 });
      for (const [index, part] of [left, right].entries())
        b.tensors.push({ id: node.outputs[index] as ValueId, dims: dims.map((dim, at) => (at === axis ? part : dim)) });
      return;
    }
    case 'ConstantChain': {
      const sum = addOp(b, 'Add', [scalar(seed % 5), scalar(2)]);
      put(b, 'Add', [x.id, first(addOp(b, 'Mul', [first(sum), scalar(0.25)]))], dims);
      return;
    }
    case 'Conv': {
      if (!isImage) return;
      const kernel = seed % 3 === 0 && height > 2 && width > 2 ? 3 : 1;
      const pad = seed % 2;
      const grow = kernel === 3 ? 2 * pad - 2 : 2 * pad;
      const outputs = 2 + (seed % 3);
      put(
        b,
        'Conv',
        [x.id, weights([outputs, channels, kernel, kernel]), seed % 5 === 0 ? undefined : weights([outputs])],
        [1, outputs, height + grow, width + grow],
        { pads: ints([pad, pad, pad, pad]) },
      );
      return;
    }
    case 'GroupConv':
      if (!isImage || channels % 2 !== 0) return;
      put(b, 'Conv', [x.id, weights([4, channels / 2, 1, 1]), weights([4])], [1, 4, height, width], { group: int(2) });
      return;
    case 'Depthwise':
      if (isImage) same('Conv', [weights([channels, 1, 3, 3])], { pads: ints([1, 1, 1, 1]), group: int(channels) });
      return;
    case 'ConvTranspose':
      if (!isImage || 8 * height * width > MOST_ELEMENTS) return;
      put(b, 'ConvTranspose', [x.id, weights([channels, 2, 2, 2]), weights([2])], [1, 2, 2 * height, 2 * width], { strides: ints([2, 2]) });
      return;
    case 'BatchNormalization': {
      if (!isImage) return;
      const variance = constantOf(
        b,
        floats(
          [channels],
          Array.from({ length: channels }, (_, index) => 0.5 + index),
        ),
      );
      same('BatchNormalization', [weights([channels]), weights([channels]), weights([channels]), variance], { epsilon: float(1e-3) });
      return;
    }
    case 'Pad': {
      if (!isImage) return;
      const pads = [0, 0, seed % 2, 1, 0, 0, 0, seed % 3];
      put(b, 'Pad', [x.id, constantOf(b, integers(pads))], [1, channels, height + (seed % 2), width + 1 + (seed % 3)]);
      return;
    }
    case 'MaxPool':
    case 'AveragePool':
      if (!isImage || height < 2 || width < 2) return;
      put(b, step.op, [x.id], [1, channels, height - 1, width - 1], { kernel_shape: ints([2, 2]) });
      return;
    case 'Subsample':
      if (isImage)
        put(b, 'MaxPool', [x.id], [1, channels, (height + 1) >> 1, (width + 1) >> 1], {
          kernel_shape: ints([1, 1]),
          strides: ints([2, 2]),
        });
      return;
    case 'GlobalPool':
      if (isImage) put(b, 'GlobalAveragePool', [x.id], [1, channels, 1, 1]);
      return;
    case 'Transpose':
    case 'TransposeBack': {
      if (!isImage) return;
      const perm = step.op === 'Transpose' ? [0, 2, 3, 1] : [0, 3, 1, 2];
      put(
        b,
        'Transpose',
        [x.id],
        perm.map(axis => dims[axis] ?? 1),
        { perm: ints(perm) },
      );
      return;
    }
    case 'Reshape':
      put(b, 'Reshape', [x.id, constantOf(b, integers([dims[0] ?? 1, -1]))], [dims[0] ?? 1, sizeOf(dims.slice(1))]);
      return;
    case 'ComputedReshape': {
      const shape = addOp(b, 'Shape', [x.id]);
      const [none, batch] = [constantOf(b, integers([0])), first(addOp(b, 'Gather', [first(shape), constantOf(b, integers([0]))]))];
      const target = addOp(b, 'Concat', [batch, constantOf(b, integers([-1, 1]))], { attributes: { axis: int(0) } });
      const moved = addOp(b, 'Add', [first(target), none]);
      put(b, 'Reshape', [x.id, first(moved)], [dims[0] ?? 1, sizeOf(dims.slice(1)), 1]);
      return;
    }
    case 'Flatten':
      put(b, 'Flatten', [x.id], [dims[0] ?? 1, sizeOf(dims.slice(1))]);
      return;
    case 'Unsqueeze':
      if (dims.length < 5) put(b, 'Unsqueeze', [x.id, constantOf(b, integers([1]))], [dims[0] ?? 1, 1, ...dims.slice(1)]);
      return;
    case 'Squeeze':
      if (dims.length > 2 && dims[1] === 1) put(b, 'Squeeze', [x.id, constantOf(b, integers([1]))], [dims[0] ?? 1, ...dims.slice(2)]);
      return;
    case 'Slice':
    case 'SliceBack': {
      const axis = seed % dims.length;
      const size = dims[axis] ?? 1;
      const back = step.op === 'SliceBack';
      const [start, end, by] = back ? [-1, -(2 ** 40), -1] : [size > 1 ? seed % 2 : 0, 2 ** 40, 1 + (seed % 2)];
      const count = back ? size : Math.ceil((size - start) / by);
      const bounds = [[start], [end], [axis], [by]].map(values => constantOf(b, integers(values)));
      put(
        b,
        'Slice',
        [x.id, ...bounds],
        dims.map((dim, at) => (at === axis ? count : dim)),
      );
      return;
    }
    case 'Gather': {
      const axis = seed % dims.length;
      const places = [0, (dims[axis] ?? 1) - 1];
      put(
        b,
        'Gather',
        [x.id, constantOf(b, integers(places))],
        dims.map((dim, at) => (at === axis ? 2 : dim)),
        { axis: int(axis) },
      );
      return;
    }
    case 'Expand':
      same('Expand', [constantOf(b, integers([...dims]))]);
      return;
    case 'Gemm': {
      const [rows = 1, columns = 1] = dims;
      if (dims.length === 2 && columns <= 300) put(b, 'Gemm', [x.id, weights([3, columns]), weights([3])], [rows, 3], { transB: int(1) });
      return;
    }
    case 'MatMulAdd': {
      const [rows = 1, columns = 1] = dims;
      if (dims.length !== 2 || columns > 300) return;
      const product = addOp(b, 'MatMul', [x.id, weights([columns, 4])]);
      put(b, 'Add', [first(product), weights([4])], [rows, 4]);
      return;
    }
    case 'ReduceMean':
      if (isImage)
        put(b, 'ReduceMean', [x.id], seed % 2 === 0 ? [1, channels, 1, 1] : [1, channels], {
          axes: ints([2, 3]),
          keepdims: int((seed + 1) % 2),
        });
      return;
    case 'LayerNorm': {
      const last = dims.slice(-1);
      const attributes = { axes: ints([-1]) };
      const centered = addOp(b, 'Sub', [x.id, first(addOp(b, 'ReduceMean', [x.id], { attributes }))]);
      const variance = addOp(b, 'ReduceMean', [first(addOp(b, 'Mul', [first(centered), first(centered)]))], { attributes });
      const deviation = addOp(b, 'Sqrt', [first(addOp(b, 'Add', [first(variance), scalar(0.1)]))]);
      const scaled = addOp(b, 'Mul', [first(addOp(b, 'Div', [first(centered), first(deviation)])), weights(last)]);
      put(b, 'Add', [first(scaled), weights(last)], dims);
      return;
    }
    case 'ResizeNearest':
    case 'ResizeLinear': {
      if (!isImage || 4 * sizeOf(dims) > MOST_ELEMENTS) return;
      const attributes = { mode: string(step.op === 'ResizeLinear' ? 'linear' : 'nearest') };
      const scales = constantOf(b, floats([4], [1, 1, 2, 2]));
      put(b, 'Resize', [x.id, undefined, scales], [1, channels, 2 * height, 2 * width], attributes);
      return;
    }
    case 'DepthToSpace':
      if (isImage && channels % 4 === 0)
        put(b, 'DepthToSpace', [x.id], [1, channels / 4, 2 * height, 2 * width], {
          blocksize: int(2),
          mode: string(seed % 2 === 0 ? 'DCR' : 'CRD'),
        });
      return;
    case 'SpaceToDepth':
      if (isImage && height % 2 === 0 && width % 2 === 0)
        put(b, 'SpaceToDepth', [x.id], [1, 4 * channels, height / 2, width / 2], { blocksize: int(2) });
      return;
    case 'Quantize': {
      const [scale, zero] = [scalar(2 ** -4), constantOf(b, encodeRawTensor(makeTensor('uint8', [], Uint8Array.of(128))))];
      put(b, 'DequantizeLinear', [first(addOp(b, 'QuantizeLinear', [x.id, scale, zero])), scale, zero], dims);
      return;
    }
    case 'ConvNorm':
    case 'PadConv':
    case 'TransposeTwice':
      for (const op of COMPOUNDS[step.op]) build(b, { ...step, op, first: op === COMPOUNDS[step.op][0] ? step.first : 0 }, bodies);
      return;
    case 'JoinedNorm': {
      if (!isImage) return;
      build(b, { ...step, op: 'GroupConv' }, bodies);
      put(b, 'Conv', [x.id, weights([3, channels, 1, 1])], [1, 3, height, width]);
      build(b, { ...step, op: 'Concat', first: 0, second: 1 }, bodies);
      build(b, { ...step, op: 'BatchNormalization', first: 0 }, bodies);
      return;
    }
    case 'If':
    case 'ConstantIf':
      if (bodies === 'bodies') buildIf(b, step, x);
      return;
    case 'Loop':
    case 'ConstantLoop':
      if (bodies === 'bodies') buildLoop(b, step, x);
      return;
  }
}

/** A graph inside: it reads what is around it, and gives `x` once more at the end, element by element. */
function buildBody(
  b: Building,
  name: string,
  list: readonly Instruction[],
  x: Tensor,
): { readonly graph: Graph; readonly inner: Building } {
  const graph: Graph = { ...makeModel({ opset: b.opset, graphName: name }).graph };
  const inner: Building = { ...b, graph, tensors: [...b.tensors, x] };
  for (const step of list) build(inner, step, 'bodies');
  return { graph, inner };
}

function sumAtEnd(inner: Building, x: Tensor): ValueId {
  const alike = inner.tensors.filter(({ id, dims }) => inner.graph.values.has(id) && dims.join() === x.dims.join()).at(-1) ?? x;
  const mean = addOp(inner, 'Sigmoid', [alike.id]);
  return first(addOp(inner, 'Add', [x.id, first(mean)]));
}

function buildIf(b: Building, step: Instruction, x: Tensor): void {
  const middle = step.body.length >> 1;
  const branches = [step.body.slice(0, middle), step.body.slice(middle)].map((list, index) => {
    const { graph, inner } = buildBody(b, `branch${b.model.nextId}_${index}`, list, x);
    graph.outputs.push(sumAtEnd(inner, x));
    return graph;
  });
  const [then, otherwise] = branches as [Graph, Graph];
  const yes = (): ValueId => constantOf(b, encodeRawTensor(makeTensor('bool', [], Uint8Array.of(step.seed % 2))));
  const condition = step.op === 'If' ? b.free.condition : yes();
  put(b, 'If', [condition], x.dims, { then_branch: { kind: 'graph', value: then }, else_branch: { kind: 'graph', value: otherwise } });
}

function buildLoop(b: Building, step: Instruction, x: Tensor): void {
  const name = `body${b.model.nextId}`;
  const graph: Graph = { ...makeModel({ opset: b.opset, graphName: name }).graph };
  const inner: Building = { ...b, graph, tensors: [...b.tensors] };
  const input = (dtype: 'int64' | 'bool' | 'float32', dims: readonly number[]): ValueId =>
    addInput(b.model, graph, freshName(inner), { kind: 'tensor', dtype, dims: [...dims] }).id;
  input('int64', []);
  const on = input('bool', []);
  const carried: Tensor = { id: input('float32', x.dims), dims: x.dims };
  inner.tensors.push(carried);
  for (const inside of step.body) build(inner, inside, 'bodies');
  graph.outputs.push(first(addOp(inner, 'Identity', [on])), sumAtEnd(inner, carried));
  const count =
    step.op === 'Loop' ? b.free.count : constantOf(b, encodeRawTensor(makeTensor('int64', [], BigInt64Array.of(BigInt(step.seed % 3)))));
  const yes = constantOf(b, encodeRawTensor(makeTensor('bool', [], Uint8Array.of(1))));
  put(b, 'Loop', [count, yes, x.id], x.dims, { body: { kind: 'graph', value: graph } });
}
