/** Orders the nodes of a model so that block after block is complete: a block has what its ends need and no block before it has. */
import { getDefined } from '../../base/invariant.js';
import type { Model, Node, NodeId, ValueId } from '../../onnx/ir/model.js';
import { readsOf } from '../../runtime/capture/segments.js';

export interface EndOrder {
  /** Every node, in a topological order. */
  readonly order: readonly Node[];
  /** Per block, the number of nodes up to its end. */
  readonly counts: readonly number[];
}

/** @param ends per block the values that it computes. Nodes that no block needs come last. The nodes of the graph are in topological order. */
export function orderByEnds({ graph }: Model, ends: readonly (readonly ValueId[])[]): EndOrder {
  const nodes = [...graph.nodes.values()];
  const placed = new Set<NodeId>();
  const order: Node[] = [];
  const place = (wanted: ReadonlySet<NodeId>): number => {
    for (const node of nodes) {
      if (!wanted.has(node.id) || placed.has(node.id)) continue;
      placed.add(node.id);
      order.push(node);
    }
    return order.length;
  };
  const counts = ends.map(ids => place(ancestorsOf({ graph }, ids, placed)));
  place(new Set(graph.nodes.keys()));
  return { order, counts };
}

function ancestorsOf({ graph }: Pick<Model, 'graph'>, ids: readonly ValueId[], placed: ReadonlySet<NodeId>): ReadonlySet<NodeId> {
  const found = new Set<NodeId>();
  const open = [...ids];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const producer = graph.values.get(id)?.producer;
    if (producer === undefined || placed.has(producer) || found.has(producer)) continue;
    found.add(producer);
    open.push(...readsOf(getDefined(graph.nodes.get(producer), 'producer')));
  }
  return found;
}
