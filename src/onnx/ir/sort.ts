/** Topological order of the nodes of a graph, stable with respect to file order. */

import { replaceNodeOrder, subgraphsOf } from './edit.js';
import type { Graph, Node } from './model.js';
import { OnnxError } from './onnx-error.js';
import { valuesReadBy } from './reads.js';

export type TopologicalOrder =
  | { readonly kind: 'order'; readonly nodes: readonly Node[] }
  /** The nodes of one cycle: each reads from the previous one, and the first reads from the last. */
  | { readonly kind: 'cycle'; readonly nodes: readonly Node[] };

/** The order of the nodes of `graph`: file order, except that a node moves up to just before the first one that needs it. */
export function findTopologicalOrder(graph: Graph): TopologicalOrder {
  const order: Node[] = [];
  const state = new Map<Node, 'open' | 'done'>();
  for (const root of graph.nodes.values()) {
    if (state.has(root)) continue;
    const path = [{ node: root, needs: producersOf(graph, root) }];
    state.set(root, 'open');
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.needs.next();
      if (next.done) {
        path.pop();
        state.set(top.node, 'done');
        order.push(top.node);
        continue;
      }
      const known = state.get(next.value);
      if (known === 'open') {
        const nodes = path.map(({ node }) => node);
        return { kind: 'cycle', nodes: nodes.slice(nodes.indexOf(next.value)).reverse() };
      }
      if (known === undefined) {
        state.set(next.value, 'open');
        path.push({ node: next.value, needs: producersOf(graph, next.value) });
      }
    }
  }
  return { kind: 'order', nodes: order };
}

function* producersOf(graph: Graph, node: Node): Generator<Node> {
  for (const id of valuesReadBy(node)) {
    const producer = graph.values.get(id)?.producer;
    const found = producer === undefined ? undefined : graph.nodes.get(producer);
    if (found !== undefined) yield found;
  }
}

/** Sorts the nodes of `graph` and of its subgraphs topologically; stable. @throws OnnxError `graph-cycle`, naming the nodes. */
export function sortTopologically(graph: Graph): void {
  const found = findTopologicalOrder(graph);
  if (found.kind === 'cycle') {
    throw new OnnxError('graph-cycle', `graph "${graph.name}" has a cycle: ${describeCycle(graph, found.nodes)}`);
  }
  replaceNodeOrder(graph, found.nodes);
  for (const node of graph.nodes.values()) for (const sub of subgraphsOf(node)) sortTopologically(sub);
}

/** "Add "y" → Relu "z" → Add "y"": nodes by operator and first output. */
export function describeCycle(graph: Graph, nodes: readonly Node[]): string {
  const labels = nodes.map(node => `${node.opType} "${node.name || outputNameOf(graph, node)}"`);
  return [...labels, labels[0]].join(' → ');
}

function outputNameOf(graph: Graph, node: Node): string {
  const output = node.outputs.find(id => id !== undefined);
  return output === undefined ? '' : (graph.values.get(output)?.name ?? '');
}
