/** Removal of nodes whose outputs are no longer read, and of the constants that only they read. */
import { removeNode, removeValue, subgraphsOf } from '../ir/edit.js';
import type { Graph, Node, ValueId } from '../ir/model.js';

/** The label of a node in reports. */
export const labelOf = (node: Node): string => (node.name === '' ? node.opType : `${node.opType} ${node.name}`);

/** Removes those of `nodes` whose outputs nothing reads, and constants that only they read. @returns labels of the removed nodes, in the order of removal. */
export function removeUnread(graph: Graph, nodes: readonly Node[]): string[] {
  const removed: string[] = [];
  let left = nodes.filter(node => graph.nodes.has(node.id));
  for (;;) {
    const unread = left.find(node => !node.outputs.some(output => output !== undefined && isRead(graph, output)));
    if (unread === undefined) return removed;
    removeNode(graph, unread.id);
    for (const output of unread.outputs) if (output !== undefined) removeValue(graph, output);
    for (const input of unread.inputs) if (input !== undefined) removeUnreadConstant(graph, input);
    removed.push(labelOf(unread));
    left = left.filter(node => node !== unread);
  }
}

function removeUnreadConstant(graph: Graph, id: ValueId): void {
  const value = graph.values.get(id);
  if (value === undefined || graph.inputs.includes(id) || isRead(graph, id)) return;
  if (value.constant !== undefined) removeValue(graph, id);
}

/** Whether a node, a node of a subgraph, or an output of the graph reads `id`. */
function isRead(graph: Graph, id: ValueId): boolean {
  if (graph.outputs.includes(id)) return true;
  for (const node of graph.nodes.values()) {
    if (node.inputs.includes(id)) return true;
    for (const sub of subgraphsOf(node)) if (isRead(sub, id)) return true;
  }
  return false;
}
