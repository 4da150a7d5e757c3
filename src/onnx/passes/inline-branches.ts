/** The pass that replaces an If with a constant condition by the nodes of the branch taken. */
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import { type Inlining, inlineSubgraph, replaceByIdentities, sortValues } from '../ir/inline.js';
import type { Graph, Node } from '../ir/model.js';
import { makeNameScope, makeNodeNameScope } from '../ir/name-scope.js';
import { type Scope, scopesOf } from '../ir/scope.js';
import { findConstantIn } from '../rewrite/graph-view.js';
import { describeNode } from '../shape-inference/context/node-context.js';
import { joinOutcomes, type Pass, type PassOutcome } from './pass.js';

/** Exact. Values of the branch keep their names if these are free. */
export const inlineBranches: Pass = {
  name: 'inline-branches',
  proof: 'exact',
  proofText: 'An If whose condition is constant always runs the same branch.',
  async run(model) {
    const outcomes: PassOutcome[] = [];
    // Scopes are visited lazily: a branch that was inlined into its outer graph is not visited at its old place.
    for (const scope of scopesOf(model)) outcomes.push(inlineIn(scope));
    return joinOutcomes(outcomes);
  },
};

function inlineIn(scope: Scope): PassOutcome {
  const { model, graph } = scope;
  const changed: string[] = [];
  const declined: { node: string; reason: string }[] = [];
  for (const node of [...graph.nodes.values()]) {
    if (node.domain !== '' || node.opType !== 'If') continue;
    const taken = findTaken(scope, node);
    if (taken === undefined) {
      declined.push({ node: describeNode(node, graph), reason: 'its condition is not constant' });
      continue;
    }
    changed.push(node.name === '' ? node.opType : node.name);
    const into: Inlining = { model, graph, names: makeNameScope(model.graph), nodeNames: makeNodeNameScope(graph), before: node.id };
    replaceByIdentities(into, node, inlineSubgraph(into, taken, []));
  }
  if (changed.length > 0) sortValues(graph);
  return { changed, declined };
}

function findTaken(scope: Scope, node: Node): Graph | undefined {
  const condition = findConstantIn(scope, node.inputs[0]);
  if (condition?.dtype !== 'bool') return undefined;
  const branch = node.attributes.get(decodeRawTensor({ ...condition, dtype: 'bool' }).data[0] === 0 ? 'else_branch' : 'then_branch');
  return branch?.kind === 'graph' ? branch.value : undefined;
}
