/** Recognizes convolutions that only copy elements: a depthwise 1×1 convolution of ones, the NPU form of a strided 1×1 MaxPool. */
import { findInts, getInt } from '../../onnx/ir/attribute.js';
import type { Graph, Node } from '../../onnx/ir/model.js';
import type { RawTensor } from '../../tensor/tensor.js';
import { decodeFloats } from '../weights/weights.js';

/** Whether the Conv `node` copies elements of its input: one 1×1 filter of value 1 per channel, no padding, no bias other than 0. */
export function isCopyConv(graph: Graph, node: Node): boolean {
  // Shapes first: they rule out most nodes without decoding the weights.
  const [filters, perGroup, ...kernel] = dimsOf(graph, node, 1);
  if (perGroup !== 1 || kernel.some(size => size !== 1) || getInt(node, 'group', 1) !== filters) return false;
  const weight = findFloats(graph, node, 1);
  if (weight === undefined || !weight.every(x => x === 1)) return false;
  if (findInts(node, 'pads')?.some(pad => pad !== 0) === true) return false;
  if (node.inputs[2] === undefined) return true;
  return findFloats(graph, node, 2)?.every(x => x === 0) === true;
}

function dimsOf(graph: Graph, node: Node, index: number): readonly number[] {
  return findConstant(graph, node, index)?.dims ?? [];
}

function findFloats(graph: Graph, node: Node, index: number): Float32Array | undefined {
  const constant = findConstant(graph, node, index);
  return constant === undefined ? undefined : decodeFloats(constant);
}

function findConstant(graph: Graph, node: Node, index: number): RawTensor | undefined {
  const id = node.inputs[index];
  const constant = id === undefined ? undefined : graph.values.get(id)?.constant;
  return constant?.dtype === 'float32' ? constant : undefined;
}
