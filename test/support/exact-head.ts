/** Results of a head in double precision, as the oracle of float32 sums: Conv (3 × 3, pads 1, stride 1), Gemm, Relu and Flatten. */
import { getDefined } from '../../src/base/invariant.js';
import { findInts, getInt } from '../../src/onnx/ir/attribute.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model, Node, ValueId } from '../../src/onnx/ir/model.js';
import { decodeRawTensor } from '../../src/tensor/raw-tensor.js';
import type { Tensor } from '../../src/tensor/tensor.js';

interface Exact {
  readonly dims: readonly number[];
  readonly values: Float64Array;
}

/** The outputs by name, for all rows. */
export function computeExactly({ graph }: Model, { dims, data }: Tensor<'float32'>): ReadonlyMap<string, Float64Array> {
  const known = new Map<ValueId, Exact>();
  const get = (id: ValueId | undefined): Exact => getDefined(id === undefined ? undefined : known.get(id), 'a value of the head');
  known.set(getDefined(graph.inputs[0], 'input'), { dims, values: Float64Array.from(data) });
  const constantOf = (id: ValueId | undefined): Float64Array => {
    const raw = getDefined(id === undefined ? undefined : graph.values.get(id)?.constant, 'a constant of the head');
    if (raw.dtype !== 'float32') throw new TypeError(`weights are ${raw.dtype}`);
    return Float64Array.from(decodeRawTensor({ ...raw, dtype: 'float32' }).data);
  };
  const compute = (node: Node): Exact => {
    const input = get(node.inputs[0]);
    const [rows = 0] = input.dims;
    if (node.opType === 'Relu') return { ...input, values: input.values.map(value => Math.max(0, value)) };
    if (node.opType === 'Flatten') return { ...input, dims: [rows, input.values.length / rows] };
    const [weights, biases] = [constantOf(node.inputs[1]), constantOf(node.inputs[2])];
    if (node.opType === 'Gemm' && getInt(node, 'transB', 0) === 1) return multiply(input, weights, biases);
    if (node.opType === 'Conv' && String(findInts(node, 'pads')) === '1,1,1,1') return convolve(input, weights, biases);
    throw new TypeError(`${node.opType} is not computed here`);
  };
  for (const node of graph.nodes.values()) known.set(getDefined(node.outputs[0], node.opType), compute(node));
  return new Map(graph.outputs.map(id => [getValue(graph, id).name, get(id).values]));
}

/** `columns` has the terms of each sum, one after another. */
function multiply({ dims, values }: Exact, weights: Float64Array, biases: Float64Array): Exact {
  const [rows = 0, length = 0] = dims;
  const channels = biases.length;
  const result = new Float64Array(rows * channels);
  for (let row = 0; row < rows; row++)
    for (let channel = 0; channel < channels; channel++) {
      let sum = biases[channel] ?? 0;
      for (let k = 0; k < length; k++) sum += (weights[channel * length + k] ?? 0) * (values[row * length + k] ?? 0);
      result[row * channels + channel] = sum;
    }
  return { dims: [rows, channels], values: result };
}

/** As a product with the windows of all positions, which are rows. */
function convolve({ dims, values }: Exact, weights: Float64Array, biases: Float64Array): Exact {
  const [rows = 0, channels = 0, height = 0, width = 0] = dims;
  const [area, length] = [height * width, channels * 9];
  const windows = new Float64Array(rows * area * length);
  for (let place = 0; place < rows * area; place++) {
    const [row, y, x] = [Math.floor(place / area), Math.floor((place % area) / width), place % width];
    for (let k = 0; k < length; k++) {
      const [fromY, fromX] = [y + Math.floor((k % 9) / 3) - 1, x + (k % 3) - 1];
      if (fromY < 0 || fromY >= height || fromX < 0 || fromX >= width) continue;
      windows[place * length + k] = values[(row * channels + Math.floor(k / 9)) * area + fromY * width + fromX] ?? 0;
    }
  }
  const sums = multiply({ dims: [rows * area, length], values: windows }, weights, biases).values;
  const outputs = biases.length;
  const result = new Float64Array(sums.length);
  for (let place = 0; place < rows * area; place++)
    for (let channel = 0; channel < outputs; channel++)
      result[(Math.floor(place / area) * outputs + channel) * area + (place % area)] = sums[place * outputs + channel] ?? 0;
  return { dims: [rows, outputs, height, width], values: result };
}
