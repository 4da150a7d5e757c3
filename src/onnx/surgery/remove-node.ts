/** Removal of nodes: readers of the output read an input of the node instead. Names of model outputs are kept. */
import { getNode, getValue, indexUses, removeNode as removeFromTable, removeValue, replaceAllUses } from '../ir/edit.js';
import type { Graph, Model, Node, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { removeDeadFrom } from '../passes/remove-dead.js';
import { findConstantValue } from '../rewrite/graph-view.js';
import { selectMatching } from '../rewrite/matches.js';
import type { Matches, NodeSelector } from '../selection/node-selector.js';
import { describeNode } from '../shape-inference/context/node-context.js';

export interface Removal {
  readonly select: NodeSelector;
  readonly matches?: Matches;
  /** The input that replaces the output. Default: the first input that is not constant. */
  readonly input?: number;
}

/**
 * Removes the selected nodes, and nodes and constants that become unneeded. The caller infers shapes again.
 * @returns labels of what was removed. @throws OnnxError `selector-matches-nothing`, `selector-matches-several`, `cannot-bypass`.
 */
export function removeNodes(model: Model, { select, matches = 'one', input }: Removal): readonly string[] {
  const nodes = selectMatching(model.graph, select, matches);
  const labels = nodes.map(node => describeNode(node, model.graph));
  for (const node of nodes) bypass(model, node, input);
  return [...labels, ...removeDeadFrom(model.graph)];
}

function bypass(model: Model, node: Node, index: number | undefined): void {
  const { graph } = model;
  const position = index ?? node.inputs.findIndex(id => id !== undefined && findConstantValue(model, id) === undefined);
  const source = node.inputs[position];
  const [output, ...others] = node.outputs;
  const label = describeNode(node, graph);
  if (source === undefined || output === undefined) {
    throw new OnnxError(
      'cannot-bypass',
      `${label} has no ${position < 0 ? 'non-constant input' : `input ${position}`} that could replace its output`,
    );
  }
  const uses = indexUses(graph);
  const read = others.find(id => id !== undefined && (uses.has(id) || graph.outputs.includes(id)));
  if (read !== undefined) throw new OnnxError('cannot-bypass', `${label} has another output that is read, "${getValue(graph, read).name}"`);
  removeFromTable(graph, node.id);
  for (const id of others) if (id !== undefined) removeValue(graph, id);
  if (graph.outputs.includes(output)) takeOver(graph, output, source, label);
  else {
    replaceAllUses(graph, output, source);
    removeValue(graph, output);
  }
}

/** Makes the producer of `source` produce the model output `output` instead. */
function takeOver(graph: Graph, output: ValueId, source: ValueId, label: string): void {
  const { producer, name } = getValue(graph, source);
  if (producer === undefined || graph.outputs.includes(source)) {
    throw new OnnxError(
      'cannot-bypass',
      `without ${label}, the output "${getValue(graph, output).name}" would be an alias of "${name}", ${producer === undefined ? 'which has no producer' : 'which is also an output'}`,
      {
        help: 'remove one of the two outputs, or keep the node',
      },
    );
  }
  const maker = getNode(graph, producer);
  maker.outputs = maker.outputs.map(id => (id === source ? output : id));
  getValue(graph, output).producer = producer;
  getValue(graph, source).producer = undefined;
  replaceAllUses(graph, source, output);
  removeValue(graph, source);
}
