/** The values that a node reads: its inputs and the values that its subgraphs capture. */
import { subgraphsOf } from './edit.js';
import type { Graph, Node, ValueId } from './model.js';

/** All values of the graph of `node`, or of outer graphs, that the node reads. A value may be repeated. */
export function* valuesReadBy(node: Node): Generator<ValueId> {
  for (const input of node.inputs) if (input !== undefined) yield input;
  for (const graph of subgraphsOf(node)) yield* valuesCapturedBy(graph);
}

/** The values of outer graphs that `graph`, a subgraph, reads. A value may be repeated. */
export function* valuesCapturedBy(graph: Graph): Generator<ValueId> {
  for (const node of graph.nodes.values()) {
    for (const id of valuesReadBy(node)) if (!graph.values.has(id)) yield id;
  }
  for (const id of graph.outputs) if (!graph.values.has(id)) yield id;
}
