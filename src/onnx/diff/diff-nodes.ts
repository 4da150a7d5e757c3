/** Differences between the nodes of two models. Nodes are matched by the values that they produce, then by name and operator. */

import type { Attribute, Graph, Node, ValueId } from '../ir/model.js';
import { describeNode } from '../shape-inference/context/node-context.js';
import { describeAttribute } from '../text/describe-attribute.js';
import { printGraph } from '../text/print.js';
import { describeTensor } from './diff-constants.js';
import { changed, type Difference, type Partners } from './difference.js';

export function diffNodes(before: Graph, after: Graph, partners: Partners): Difference[] {
  const taken = new Set<Node>();
  const byName = new Map([...after.nodes.values()].filter(({ name }) => name !== '').map(node => [`${node.opType} ${node.name}`, node]));
  const found: Difference[] = [];
  for (const node of before.nodes.values()) {
    const other = findPartner(node, after, partners) ?? byName.get(`${node.opType} ${node.name}`);
    if (other === undefined || taken.has(other)) {
      found.push({ kind: 'removed', what: 'node', name: describeNode(node, before), is: outlineNode(node, before) });
      continue;
    }
    taken.add(other);
    found.push(...diffNode({ node, graph: before }, { node: other, graph: after }, partners));
  }
  for (const node of after.nodes.values()) {
    if (!taken.has(node)) found.push({ kind: 'added', what: 'node', name: describeNode(node, after), is: outlineNode(node, after) });
  }
  return found;
}

/** The node that produces the partner of an output of `node`. */
function findPartner(node: Node, after: Graph, partners: Partners): Node | undefined {
  for (const output of node.outputs) {
    const producer = output === undefined ? undefined : partners.get(output)?.producer;
    const other = producer === undefined ? undefined : after.nodes.get(producer);
    if (other !== undefined) return other;
  }
  return undefined;
}

interface Place {
  readonly node: Node;
  readonly graph: Graph;
}

function diffNode(own: Place, other: Place, partners: Partners): Difference[] {
  const label = describeNode(own.node, own.graph);
  const change = (field: string, before: string | undefined, after: string | undefined): Difference[] =>
    changed('node', label, field, before, after);
  const names = [...new Set([...own.node.attributes.keys(), ...other.node.attributes.keys()])];
  const place = (side: Place, name: string): string | undefined => describeInFull(side, side.node.attributes.get(name));
  return [
    ...change('operator', nameOperator(own.node), nameOperator(other.node)),
    ...change('name', own.node.name, other.node.name),
    ...names.flatMap(name => change(name, place(own, name), place(other, name))),
    ...(['inputs', 'outputs'] as const).flatMap(side => diffPlaces(side, own, other, partners, change)),
  ];
}

const nameOperator = ({ domain, opType, overload }: Node): string => [domain, opType, overload].filter(Boolean).join('.');

function diffPlaces(
  side: 'inputs' | 'outputs',
  own: Place,
  other: Place,
  partners: Partners,
  change: (field: string, before: string | undefined, after: string | undefined) => Difference[],
): Difference[] {
  const [mine, theirs] = [own.node[side], other.node[side]];
  return Array.from({ length: Math.max(mine.length, theirs.length) }, (_, index) => {
    const [id, otherId] = [mine[index], theirs[index]];
    if (id !== undefined && partners.get(id)?.id === otherId && side === 'inputs') return [];
    return change(`${side === 'inputs' ? 'input' : 'output'} ${index}`, nameAt(own.graph, id), nameAt(other.graph, otherId));
  }).flat();
}

const nameAt = (graph: Graph, id: ValueId | undefined): string | undefined =>
  id === undefined ? undefined : (graph.values.get(id)?.name ?? '');

function outlineNode(node: Node, graph: Graph): string {
  const list = (ids: Node['inputs']): string => ids.map(id => nameAt(graph, id) ?? '').join(', ');
  return `${list(node.outputs)} = ${nameOperator(node)}(${list(node.inputs)})`;
}

function describeInFull(place: Place, attribute: Attribute | undefined): string | undefined {
  switch (attribute?.kind) {
    case undefined:
      return undefined;
    case 'tensor':
      return describeTensor(attribute.value);
    case 'tensors':
      return attribute.value.map(({ value }) => describeTensor(value)).join('; ');
    case 'graph':
      return printInside(place, attribute.value);
    case 'graphs':
      return attribute.value.map(graph => printInside(place, graph)).join('');
    case 'ref':
      return `@${attribute.refName}`;
    case 'other':
      return Buffer.from(attribute.bytes).toString('hex');
    default:
      return describeAttribute(attribute);
  }
}

function printInside({ graph }: Place, inner: Graph): string {
  return printGraph(inner, { maxElements: Number.MAX_SAFE_INTEGER, outerName: id => graph.values.get(id)?.name });
}
