/** Which If always takes the same branch? That branch comes to stand in its place. */
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import { type Inlining, inlineSubgraph, sortValues, takeOver } from '../ir/inline.js';
import type { Graph, Model, Node } from '../ir/model.js';
import { makeNameScope } from '../ir/name-scope.js';
import { findConstantValue } from '../rewrite/graph-view.js';
import { describeNode } from '../shape-inference/node-context.js';
import type { Pass } from './pass.js';

/** Exact. Values of the branch keep their names where these are free. */
export const inlineBranches: Pass = {
  name: 'inline-branches',
  proof: 'exact',
  proofText: 'An If whose condition is constant runs one of its branches, always.',
  async run(model) {
    const changed: string[] = [];
    const declined: { node: string; reason: string }[] = [];
    for (const node of [...model.graph.nodes.values()]) {
      if (node.domain !== '' || node.opType !== 'If') continue;
      const taken = findTaken(model, node);
      if (taken === undefined) {
        declined.push({ node: describeNode(node, model.graph), reason: 'its condition is not constant' });
        continue;
      }
      changed.push(node.name === '' ? node.opType : node.name);
      const into: Inlining = { model, graph: model.graph, names: makeNameScope(model.graph), before: node.id };
      takeOver(into, node, inlineSubgraph(into, taken, []));
    }
    if (changed.length > 0) sortValues(model.graph);
    return { changed, declined };
  },
};

function findTaken(model: Model, node: Node): Graph | undefined {
  const condition = findConstantValue(model, node.inputs[0]);
  if (condition?.dtype !== 'bool') return undefined;
  const branch = node.attributes.get(decodeRawTensor({ ...condition, dtype: 'bool' }).data[0] === 0 ? 'else_branch' : 'then_branch');
  return branch?.kind === 'graph' ? branch.value : undefined;
}
