/** Removes nodes at an input or output of the model; the value that is left becomes the input or output and takes over its name. */
import { getValue, removeValue } from '../ir/edit.js';
import { type AppliedPatch, detach } from './apply-patch.js';
import type { GraphView } from './graph-view.js';
import type { EndCut } from './patch.js';
import { labelOf, removeUnread } from './remove-unread.js';

/** Applies a cut. Nothing outside the cut reads its nodes. */
export function applyCut(view: GraphView, cut: EndCut): AppliedPatch {
  const { graph, inference } = view;
  const { side, end, kept, nodes } = cut;
  const name = view.nameOf(end);
  const known = view.typeOf(kept);
  const value = getValue(graph, kept);
  if (side === 'output') graph.outputs = graph.outputs.map(id => (id === end ? kept : id));
  else {
    graph.inputs = graph.inputs.map(id => (id === end ? kept : id));
    detach(graph, kept);
    value.type = { kind: 'tensor', dtype: known.dtype, dims: known.dims };
  }
  removeUnread(graph, nodes);
  if (side === 'input') removeValue(graph, end);
  value.name = name;
  inference.types.set(kept, known);
  return { kind: 'applied', added: [], removed: nodes.map(labelOf), values: [name], host: { side, end: name, steps: cut.host } };
}
