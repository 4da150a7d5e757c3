/** A small model whose results depend on the kernels that ONNX Runtime selects by CPU features. */

import { float, ints, string } from '../../onnx/ir/attribute.js';
import { addInitializer, addInput, addNode, makeModel } from '../../onnx/ir/edit.js';
import type { Attribute, Model, ValueId } from '../../onnx/ir/model.js';
import type { DType } from '../../tensor/dtype.js';
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import type { Tensor } from '../../tensor/tensor.js';
import { makeTensor } from '../../tensor/tensor.js';

export interface Probe {
  readonly model: Model;
  readonly feeds: Readonly<Record<string, Tensor>>;
}

/**
 * Float Conv (blocked by 8 or 16 channels), grouped Conv, Gemm and MatMul of odd sizes (fused multiply-add, order of sums), transcendental functions and Softmax
 * (vector width), averages and bilinear Resize; u8s8 MatMulInteger and QLinearConv at the range limits (pairs of products saturate without VNNI).
 */
export function makeProbe(): Probe {
  const model = makeModel({ opset: 17, graphName: 'probe' });
  const { graph } = model;
  const feeds: Record<string, Tensor> = {};
  const floats = pseudoRandom(1);
  const integers = pseudoRandom(2);

  const feed = (name: string, tensor: Tensor): ValueId => {
    feeds[name] = tensor;
    return addInput(model, graph, name, { kind: 'tensor', dtype: tensor.dtype, dims: tensor.dims }).id;
  };
  const constant = (name: string, tensor: Tensor): ValueId => addInitializer(model, graph, name, encodeRawTensor(tensor)).id;
  const output = (
    name: string,
    dtype: DType,
    opType: string,
    inputs: readonly (ValueId | undefined)[],
    attributes: Record<string, Attribute> = {},
  ): ValueId => {
    const [id] = addNode(model, graph, { opType, name, inputs, attributes, outputs: [name] }).outputs;
    const value = graph.values.get(id as ValueId);
    if (value !== undefined) value.type = { kind: 'tensor', dtype, dims: undefined };
    graph.outputs.push(id as ValueId);
    return id as ValueId;
  };

  const image = feed('image', floatTensor([1, 3, 23, 19], floats));
  const conv = output('conv', 'float32', 'Conv', [image, constant('w1', floatTensor([40, 3, 3, 3], floats))], { pads: ints([1, 1, 1, 1]) });
  const pointwise = output('pointwise', 'float32', 'Conv', [conv, constant('w2', floatTensor([32, 40, 1, 1], floats))]);
  output('depthwise', 'float32', 'Conv', [pointwise, constant('w3', floatTensor([32, 1, 3, 3], floats))], {
    group: { kind: 'int', value: 32n },
  });
  output('average', 'float32', 'AveragePool', [pointwise], { kernel_shape: ints([3, 3]) });
  output('sigmoid', 'float32', 'Sigmoid', [pointwise]);
  output('tanh', 'float32', 'Tanh', [pointwise]);
  output('softmax', 'float32', 'Softmax', [pointwise]);
  output('erf', 'float32', 'Erf', [pointwise]);
  output('exp', 'float32', 'Exp', [pointwise]);
  output('mean', 'float32', 'ReduceMean', [pointwise], { axes: ints([2, 3]) });
  const scales = constant('scales', makeTensor('float32', [4], new Float32Array([1, 1, 1.7, 2.3])));
  output('resize', 'float32', 'Resize', [image, undefined, scales], { mode: string('linear') });

  const matrix = feed('matrix', floatTensor([37, 129], floats));
  output('gemm', 'float32', 'Gemm', [matrix, constant('w4', floatTensor([129, 67], floats)), constant('b4', floatTensor([67], floats))], {
    alpha: float(0.7),
  });
  output('matmul', 'float32', 'MatMul', [matrix, constant('w5', floatTensor([129, 35], floats))]);

  const codes = feed('codes', uint8Tensor([17, 133], integers));
  output('integers', 'int32', 'MatMulInteger', [codes, constant('w6', int8Tensor([133, 19], integers))]);
  const scale = constant('scale', makeTensor('float32', [], new Float32Array([0.013])));
  const zero = constant('zero', makeTensor('uint8', [], new Uint8Array([131])));
  const weightZero = constant('weightZero', makeTensor('int8', [], new Int8Array([0])));
  const pixels = feed('pixels', uint8Tensor([1, 8, 15, 13], integers));
  const weights = constant('w7', int8Tensor([24, 8, 3, 3], integers));
  const outputScale = constant('outputScale', makeTensor('float32', [], new Float32Array([3.1])));
  output('quantized', 'uint8', 'QLinearConv', [pixels, scale, zero, weights, scale, weightZero, outputScale, zero]);
  return { model, feeds };
}

/** One product that ONNX Runtime cuts by columns where it has several threads. In slices of at most 64 columns it also sums otherwise. */
export function makeThreadsProbe(): Probe {
  const model = makeModel({ opset: 17, graphName: 'threads' });
  const { graph } = model;
  const floats = pseudoRandom(3);
  const [a, b] = [floatTensor([64, 300], floats), floatTensor([300, 256], floats)];
  const inputs = Object.entries({ a, b }).map(
    ([name, { dtype, dims }]) => addInput(model, graph, name, { kind: 'tensor', dtype, dims }).id,
  );
  graph.outputs = [...addNode(model, graph, { opType: 'MatMul', name: 'product', inputs, outputs: ['product'] }).outputs] as ValueId[];
  return { model, feeds: { a, b } };
}

/** Integers in [0, 2³²) by a fixed linear congruence (Numerical Recipes' constants), equal on every machine. */
function pseudoRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
}

function floatTensor(dims: readonly number[], next: () => number): Tensor<'float32'> {
  return makeTensor(
    'float32',
    dims,
    Float32Array.from({ length: count(dims) }, () => (next() >>> 8) / 2 ** 23 - 1),
  );
}

/** Mostly large values, so that sums of two products exceed 16 bits. */
function uint8Tensor(dims: readonly number[], next: () => number): Tensor<'uint8'> {
  return makeTensor(
    'uint8',
    dims,
    Uint8Array.from({ length: count(dims) }, () => 255 - ((next() >>> 24) & 63)),
  );
}

function int8Tensor(dims: readonly number[], next: () => number): Tensor<'int8'> {
  return makeTensor(
    'int8',
    dims,
    Int8Array.from({ length: count(dims) }, () => ((next() >>> 24) & 1 ? 127 : -128) + ((next() >>> 27) & 7) * ((next() >>> 30) & 1)),
  );
}

function count(dims: readonly number[]): number {
  return dims.reduce((product, dim) => product * dim, 1);
}
