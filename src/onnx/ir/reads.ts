/** Which values does a node read? Its inputs, and what the graphs inside it take from outside. */
import { subgraphsOf } from './edit.js';
import type { Graph, Node, ValueId } from './model.js';

/** Every value of `node`'s own graph (or of one around it) that the node needs; a value may come more than once. */
export function* valuesReadBy(node: Node): Generator<ValueId> {
  for (const input of node.inputs) if (input !== undefined) yield input;
  for (const graph of subgraphsOf(node)) yield* valuesCapturedBy(graph);
}

/** What `graph`, a sub-graph, takes from the graphs around it; a value may come more than once. */
export function* valuesCapturedBy(graph: Graph): Generator<ValueId> {
  for (const node of graph.nodes.values()) {
    for (const id of valuesReadBy(node)) if (!graph.values.has(id)) yield id;
  }
  for (const id of graph.outputs) if (!graph.values.has(id)) yield id;
}
