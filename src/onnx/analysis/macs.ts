/** Number of multiply-accumulates of a node, computed from the known shapes of its inputs and outputs. */
import { getInt } from '../ir/attribute.js';
import type { Dim, Node } from '../ir/model.js';
import { isStatic } from '../shape-inference/context/dims.js';

/** Known shapes of the inputs and outputs of a node. */
export interface NodeShapes {
  readonly input: (index: number) => readonly Dim[] | undefined;
  readonly output: (index: number) => readonly Dim[] | undefined;
}

/** Counts convolutions and matrix products, also quantized ones; 0 for all other operators. Undefined: a dim is not known. */
export function countMacs(node: Node, shapes: NodeShapes): number | undefined {
  switch (node.opType) {
    case 'Conv':
    case 'ConvInteger':
      return multiply(shapes.output(0), shapes.input(1)?.slice(1));
    case 'QLinearConv':
      return multiply(shapes.output(0), shapes.input(3)?.slice(1));
    case 'ConvTranspose':
      return multiply(shapes.input(0), shapes.input(1)?.slice(1));
    case 'Gemm':
      return multiply(shapes.output(0), at(shapes.input(0), getInt(node, 'transA', 0) === 0 ? 1 : 0));
    case 'MatMul':
    case 'MatMulInteger':
    case 'QLinearMatMul':
      return multiply(shapes.output(0), at(shapes.input(0), -1));
    default:
      return 0;
  }
}

function at(dims: readonly Dim[] | undefined, axis: number): readonly Dim[] | undefined {
  const dim = dims?.at(axis);
  return dim === undefined ? undefined : [dim];
}

function multiply(a: readonly Dim[] | undefined, b: readonly Dim[] | undefined): number | undefined {
  if (!isStatic(a) || !isStatic(b)) return undefined;
  return [...a, ...b].reduce((product, dim) => product * dim, 1);
}
