/** Which convolutions only pick elements? A depthwise 1×1 of ones: a strided MaxPool 1×1 in the form that NPUs take. */
import { findInts, getInt } from '../onnx/ir/attribute.js';
import type { Graph, Node } from '../onnx/ir/model.js';
import { decodeFloats } from './weights.js';

/** Whether `node`, a Conv, copies elements of its input: one 1×1 filter of value 1 per channel, no padding, no bias other than 0. */
export function isCopyConv(graph: Graph, node: Node): boolean {
  const weight = findFloats(graph, node, 1);
  if (weight === undefined || !weight.data.every(x => x === 1)) return false;
  const [filters, perGroup, ...kernel] = weight.dims;
  if (perGroup !== 1 || kernel.some(size => size !== 1) || getInt(node, 'group', 1) !== filters) return false;
  if (findInts(node, 'pads')?.some(pad => pad !== 0) === true) return false;
  if (node.inputs[2] === undefined) return true;
  return findFloats(graph, node, 2)?.data.every(x => x === 0) === true;
}

function findFloats(graph: Graph, node: Node, index: number): { data: Float32Array; dims: readonly number[] } | undefined {
  const id = node.inputs[index];
  const constant = id === undefined ? undefined : graph.values.get(id)?.constant;
  if (constant?.dtype !== 'float32') return undefined;
  return { data: decodeFloats(constant), dims: constant.dims };
}
