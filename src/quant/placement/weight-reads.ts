/** Which constants nodes read as weights, and which of those are also tables whose rows other nodes choose. */
import { getInt } from '../../onnx/ir/attribute.js';
import type { Graph, Node, ValueId } from '../../onnx/ir/model.js';
import { isCopyConv } from './copy-conv.js';
import { findFloatConstant } from './draft.js';

/** Operators that choose elements of their first input. */
export const CHOOSING = ['Gather', 'GatherElements', 'TopK'] as const;

export interface WeightRead {
  readonly value: ValueId;
  /** The axis of output channels, if there is one. */
  readonly axis: number | undefined;
}

/** The inputs of `node` that are weights where they are constant. */
export function listWeights(graph: Graph, node: Node): readonly WeightRead[] {
  const [, weight] = node.inputs;
  const at = (axis: number | undefined): readonly WeightRead[] => (weight === undefined ? [] : [{ value: weight, axis }]);
  switch (node.opType) {
    case 'Conv':
      return at(isCopyConv(graph, node) ? undefined : 0);
    case 'ConvTranspose':
      // Weights are [in, out / groups, …]: with groups, a slice along axis 1 is one channel of every group.
      return at(getInt(node, 'group', 1) === 1 ? 1 : undefined);
    case 'Gemm':
      return at(getInt(node, 'transB', 0) !== 0 ? 0 : 1);
    case 'MatMul':
      return node.inputs.flatMap(value => (value === undefined ? [] : [{ value, axis: lastAxis(graph, value) }]));
    case 'BatchNormalization':
    case 'InstanceNormalization':
    case 'LayerNormalization':
      return at(undefined);
    default:
      return [];
  }
}

function lastAxis(graph: Graph, id: ValueId): number | undefined {
  const rank = findFloatConstant(graph, id)?.dims.length ?? 0;
  return rank > 1 ? rank - 1 : undefined;
}

/**
 * Float tables that some nodes choose from and others read as a weight, such as an embedding that is also the last layer, with the axis of the first such reader.
 * They are weights whichever node comes first: a bias widens them, and slices have scales of their own, which rows could not follow.
 */
export function findTied(graph: Graph, nodes: readonly Node[]): ReadonlyMap<ValueId, number | undefined> {
  const choosing: readonly string[] = CHOOSING;
  const tables = new Set(nodes.flatMap(({ opType, inputs: [table] }) => (choosing.includes(opType) && table !== undefined ? [table] : [])));
  const tied = new Map<ValueId, number | undefined>();
  for (const node of nodes) {
    for (const { value, axis } of listWeights(graph, node))
      if (tables.has(value) && !tied.has(value) && findFloatConstant(graph, value) !== undefined) tied.set(value, axis);
  }
  return tied;
}
