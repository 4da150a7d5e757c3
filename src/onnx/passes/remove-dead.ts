/** The pass that removes nodes, values and constants that no output of the model needs. */
import { removeNode, removeValue } from '../ir/edit.js';
import type { Graph, Model, Node, ValueId } from '../ir/model.js';
import { firstOptionalOutput } from '../ir/operator-traits.js';
import { valuesReadBy } from '../ir/reads.js';
import { type Scope, scopesOf } from '../ir/scope.js';
import type { Pass } from './pass.js';

/** Exact: no output depends on what is removed. All inputs and outputs of the model are kept. */
export const removeDead: Pass = {
  name: 'remove-dead',
  proof: 'exact',
  proofText: 'Removes nodes and constants that no output of the model depends on, and optional outputs that nothing reads.',
  async run(model) {
    return { changed: innermostFirst(model).flatMap(({ graph }) => removeDeadFrom(graph)), declined: [] };
  },
};

/** Inner graphs first: what they no longer read becomes dead in the outer ones. */
const innermostFirst = (model: Model): readonly Scope[] => [...scopesOf(model)].reverse();

/** Removes dead nodes and values of one graph; returns their labels. */
export function removeDeadFrom(graph: Graph): string[] {
  const needed = new Set<ValueId>(graph.outputs);
  const removed: string[] = [];
  for (const node of [...graph.nodes.values()].reverse()) {
    if (node.outputs.some(output => output !== undefined && needed.has(output))) {
      for (const input of valuesReadBy(node)) needed.add(input);
      continue;
    }
    removeNode(graph, node.id);
    removed.push(node.name === '' ? node.opType : node.name);
  }
  for (const node of graph.nodes.values()) removed.push(...dropOptionalOutputs(graph, node, needed));
  for (const value of [...graph.values.values()]) {
    if (needed.has(value.id) || graph.inputs.includes(value.id) || value.producer !== undefined) continue;
    removeValue(graph, value.id);
    if (value.constant !== undefined) removed.push(value.name);
  }
  return removed;
}

function dropOptionalOutputs(graph: Graph, node: Node, needed: ReadonlySet<ValueId>): string[] {
  const first = firstOptionalOutput(node);
  const dropped: string[] = [];
  node.outputs = node.outputs.map((output, index) => {
    if (output === undefined || index < first || needed.has(output)) return output;
    dropped.push(graph.values.get(output)?.name ?? '');
    removeValue(graph, output);
    return undefined;
  });
  while (node.outputs.length > 1 && node.outputs.at(-1) === undefined) node.outputs.pop();
  return dropped;
}
