/** The pass that merges nodes of equal operator, attributes and inputs (common subexpression elimination). */
import { createHash } from 'node:crypto';
import { assertNever } from '../../base/assert-never.js';
import { InternalError } from '../../base/invariant.js';
import { removeNode, removeValue, replaceAllUses, subgraphsOf } from '../ir/edit.js';
import type { Attribute, Constant, Graph, Node } from '../ir/model.js';
import { hasSubgraph, isDeterministic, isQuantizer } from '../ir/operator-traits.js';
import type { Pass } from './pass.js';

/** Exact. A node of a subgraph may be merged with an earlier one of an outer graph. Producers of graph outputs, random operators, quantizers and nodes with subgraphs are kept. */
export const mergeNodes: Pass = {
  name: 'merge-nodes',
  proof: 'exact',
  proofText: 'Nodes of one operator with equal attributes and the same inputs compute the same; the first is kept.',
  async run({ graph }) {
    return { changed: mergeEqual(graph, new Map()), declined: [] };
  },
};

/** @param outer earlier nodes of the outer graphs, by key. */
function mergeEqual(graph: Graph, outer: ReadonlyMap<string, Node>): string[] {
  const first = new Map(outer);
  const changed: string[] = [];
  for (const node of [...graph.nodes.values()]) {
    for (const sub of subgraphsOf(node)) changed.push(...mergeEqual(sub, first));
    if (!isDeterministic(node) || isQuantizer(node) || hasSubgraph(node)) continue;
    const key = keyOf(node);
    const other = first.get(key);
    if (other === undefined) first.set(key, node);
    else if (mergeInto(graph, node, other)) changed.push(node.name === '' ? node.opType : node.name);
  }
  return changed;
}

function mergeInto(graph: Graph, node: Node, other: Node): boolean {
  const pairs = node.outputs.map((output, index) => [output, other.outputs[index]] as const);
  if (pairs.some(([mine, theirs]) => mine !== undefined && (theirs === undefined || graph.outputs.includes(mine)))) return false;
  removeNode(graph, node.id);
  for (const [mine, theirs] of pairs) {
    if (mine === undefined || theirs === undefined) continue;
    replaceAllUses(graph, mine, theirs);
    removeValue(graph, mine);
  }
  return true;
}

function keyOf(node: Node): string {
  const attributes = [...node.attributes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, describeAttribute(value)]);
  // The number of outputs can decide their values: Split divides by it.
  return JSON.stringify([
    node.domain,
    node.opType,
    node.overload,
    node.inputs.map(input => input ?? null),
    node.outputs.length,
    attributes,
  ]);
}

function describeAttribute(attribute: Attribute): unknown {
  switch (attribute.kind) {
    case 'int':
      return ['int', String(attribute.value)];
    case 'ints':
      return ['ints', attribute.value.map(String)];
    case 'float':
      return ['float', exactNumber(attribute.value)];
    case 'floats':
      return ['floats', attribute.value.map(exactNumber)];
    case 'string':
      return ['string', hex(attribute.value)];
    case 'strings':
      return ['strings', attribute.value.map(hex)];
    case 'tensor':
      return ['tensor', describeConstant(attribute.value)];
    case 'tensors':
      return ['tensors', attribute.value.map(entry => describeConstant(entry.value))];
    case 'ref':
      return ['ref', attribute.refName];
    case 'other':
      return ['other', hex(attribute.bytes)];
    case 'graph':
    case 'graphs':
      throw new InternalError('nodes with subgraphs are not compared');
    default:
      return assertNever(attribute);
  }
}

/** JSON has no −0, infinities or NaN. */
const exactNumber = (value: number): string => (Object.is(value, -0) ? '-0' : String(value));

const hex = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function describeConstant(constant: Constant): unknown {
  return [constant.dtype, constant.dims, constant.dtype === 'string' ? constant.data : hex(constant.bytes)];
}
