/** How does a model lose nodes at one of its ends? What is left becomes the end, under the name that it had. */
import { getValue, removeNode, removeValue } from '../ir/edit.js';
import type { Graph } from '../ir/model.js';
import type { AppliedPatch } from './apply-patch.js';
import type { GraphView } from './graph-view.js';
import type { EndCut } from './patch.js';

/** Applies a cut whose nodes nothing else reads. */
export function applyCut(view: GraphView, cut: EndCut): AppliedPatch {
  const { graph, inference } = view;
  const { side, end, kept, nodes } = cut;
  const name = view.nameOf(end);
  const known = view.typeOf(kept);
  const type = { kind: 'tensor', dtype: known.dtype, dims: known.dims } as const;
  const removed = nodes.map(node => (node.name === '' ? node.opType : `${node.opType} ${node.name}`));
  if (side === 'output') graph.outputs = graph.outputs.map(id => (id === end ? kept : id));
  else graph.inputs = graph.inputs.map(id => (id === end ? kept : id));
  for (const node of nodes) {
    removeNode(graph, node.id);
    for (const id of [...node.inputs, ...node.outputs]) if (id !== undefined && id !== kept) removeUnread(graph, id);
  }
  const value = getValue(graph, kept);
  value.name = name;
  if (side === 'input') value.type = type;
  inference.types.set(kept, known);
  return { kind: 'applied', added: [], removed, values: [name], host: { side, end: name, steps: cut.host } };
}

function removeUnread(graph: Graph, id: Parameters<typeof removeValue>[1]): void {
  const isRead = [...graph.nodes.values()].some(node => node.inputs.includes(id));
  const value = graph.values.get(id);
  if (!isRead && value?.producer === undefined && !graph.outputs.includes(id) && !graph.inputs.includes(id)) removeValue(graph, id);
}
