/** Orders the nodes of a model so that layer after layer is complete: each follows all that it reads, and its activation function follows it. */
import type { Model, Node, NodeId } from '../../onnx/ir/model.js';
import { readsOf } from '../../runtime/capture/segments.js';
import { QuantError } from '../integers/quant-error.js';
import type { LayerSide } from './layer-pairs.js';

export interface LayerOrder {
  /** Every node, in a topological order. */
  readonly order: readonly Node[];
  /** Per layer, the number of nodes up to the end of its chain. Ascending. */
  readonly ends: readonly number[];
}

/**
 * Keeps the order of the graph where it can. Nothing that only a later layer reads comes before the end of a layer,
 * so that a corrected bias reaches every value that depends on it.
 * @throws QuantError `layers-differ` if a layer depends on one that follows it in `layers`.
 */
export function orderByLayers({ graph }: Model, layers: readonly LayerSide[]): LayerOrder {
  const nodes = [...graph.nodes.values()];
  const placed = new Set<NodeId>();
  const order: Node[] = [];
  const place = (node: Node): void => {
    if (placed.has(node.id)) return;
    placed.add(node.id);
    order.push(node);
  };
  const ends = layers.map(({ node, chain }) => {
    if (placed.has(node.id))
      throw new QuantError('layers-differ', `layer "${node.name}": the models have their layers in different orders`);
    const needed = ancestorsOf(graph, node, placed);
    for (const other of nodes) if (needed.has(other.id)) place(other);
    for (const one of [node, ...chain]) place(one);
    return order.length;
  });
  for (const node of nodes) place(node);
  return { order, ends };
}

/** Nodes that `node` depends on and that are not placed. */
function ancestorsOf(graph: Model['graph'], node: Node, placed: ReadonlySet<NodeId>): ReadonlySet<NodeId> {
  const found = new Set<NodeId>();
  const open = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const id of readsOf(next)) {
      const producer = graph.values.get(id)?.producer;
      const before = producer === undefined ? undefined : graph.nodes.get(producer);
      if (before === undefined || placed.has(before.id) || found.has(before.id)) continue;
      found.add(before.id);
      open.push(before);
    }
  }
  return found;
}
