/** Selection of the nodes of a graph that match a selector. No match is an error that names the nearest candidates. */
import { describeNear, findNear } from '../../base/text/did-you-mean.js';
import { indexUses } from '../ir/edit.js';
import type { Graph, Node } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { describeNode } from '../shape-inference/context/node-context.js';
import { describeAttribute } from '../text/describe-attribute.js';
import { makeNameMatcher } from './name-pattern.js';
import type { AttributeWanted, NodeFields, NodeSelector } from './node-selector.js';
import { assertSelector } from './read-selector.js';

/**
 * The nodes of `graph` (not of its subgraphs) that `selector` matches, in graph order; at least one.
 * @throws OnnxError `selector-matches-nothing`, with the nearest candidates; `bad-selector`.
 */
export function selectNodes(graph: Graph, selector: NodeSelector): Node[] {
  assertSelector(selector);
  const fields = typeof selector === 'string' ? { name: selector } : selector;
  const conditions = makeConditions(makeNeighborhood(graph), fields);
  const found = [...graph.nodes.values()].filter(node => conditions.every(({ holds }) => holds(node)));
  if (found.length === 0) throw matchesNothing(graph, selector, conditions);
  return found;
}

interface Neighborhood {
  readonly graph: Graph;
  readonly producersOf: (node: Node) => readonly (Node | undefined)[];
  readonly readersOf: (node: Node) => readonly Node[];
}

/** One field of a selector: whether a node matches it, and a description of what the node has instead. */
interface Condition {
  readonly holds: (node: Node) => boolean;
  readonly instead: (node: Node) => string;
}

function makeNeighborhood(graph: Graph): Neighborhood {
  let uses: ReturnType<typeof indexUses> | undefined;
  return {
    graph,
    producersOf: node =>
      node.inputs.map(id => {
        const producer = id === undefined ? undefined : graph.values.get(id)?.producer;
        return producer === undefined ? undefined : graph.nodes.get(producer);
      }),
    readersOf(node) {
      uses ??= indexUses(graph);
      const known = uses;
      return node.outputs.flatMap(id => (id === undefined ? [] : (known.get(id) ?? []).map(use => use.node)));
    },
  };
}

function makeConditions(neighborhood: Neighborhood, fields: NodeFields): readonly Condition[] {
  const { graph, producersOf, readersOf } = neighborhood;
  const names = (ids: Node['inputs']): string[] => namesOf(graph, ids);
  const inner = (selector: NodeSelector, text: 'name' | 'op'): ((node: Node | undefined) => boolean) => {
    const conditions = makeConditions(neighborhood, typeof selector === 'string' ? { [text]: selector } : selector);
    return node => node !== undefined && conditions.every(({ holds }) => holds(node));
  };
  const conditions: Condition[] = [];
  const add = (holds: Condition['holds'], instead: Condition['instead']): number => conditions.push({ holds, instead });
  const texts = [
    ['name', (node: Node) => [node.name], 'its name is'],
    ['op', (node: Node) => [node.opType], 'its operator is'],
    ['output', (node: Node) => names(node.outputs), 'its outputs are'],
    ['input', (node: Node) => names(node.inputs), 'its inputs are'],
  ] as const;
  for (const [field, textsOf, label] of texts) {
    const pattern = fields[field];
    if (pattern === undefined) continue;
    const matches = makeNameMatcher(pattern);
    add(
      node => textsOf(node).some(matches),
      node => `${label} ${textsOf(node).join(', ') || 'absent'}`,
    );
  }
  const { producer, consumer, inputs, attributes = {} } = fields;
  const operators = (nodes: readonly (Node | undefined)[]): string => nodes.flatMap(node => node?.opType ?? []).join(', ') || 'no node';
  if (producer !== undefined) {
    const matches = inner(producer, 'op');
    add(
      node => producersOf(node).some(matches),
      node => `its producers are ${operators(producersOf(node))}`,
    );
  }
  if (consumer !== undefined) {
    const matches = inner(consumer, 'op');
    add(
      node => readersOf(node).some(matches),
      node => `its readers are ${operators(readersOf(node))}`,
    );
  }
  if (inputs !== undefined) {
    const wanted = inputs.map(selector => (selector === null ? () => true : inner(selector, 'name')));
    add(
      node => wanted.every((matches, index) => matches(producersOf(node)[index])),
      node => `its producers are ${operators(producersOf(node))}`,
    );
  }
  for (const [key, value] of Object.entries(attributes)) {
    add(
      node => hasAttribute(node, key, value),
      node => `its ${key} is ${describeAttribute(node.attributes.get(key))}`,
    );
  }
  return conditions;
}

const decoder = new TextDecoder();

function hasAttribute(node: Node, name: string, wanted: AttributeWanted): boolean {
  const attribute = node.attributes.get(name);
  switch (attribute?.kind) {
    case 'int':
      return Number(attribute.value) === wanted;
    case 'float':
      return typeof wanted === 'number' && attribute.value === Math.fround(wanted);
    case 'string':
      return decoder.decode(attribute.value) === wanted;
    case 'ints':
    case 'floats':
      return (
        Array.isArray(wanted) &&
        wanted.length === attribute.value.length &&
        wanted.every((x, at) => Math.fround(x) === Number(attribute.value[at]))
      );
    default:
      return false;
  }
}

function namesOf(graph: Graph, ids: Node['inputs']): string[] {
  return ids.flatMap(id => (id === undefined ? [] : [graph.values.get(id)?.name ?? '']));
}

function matchesNothing(graph: Graph, selector: NodeSelector, conditions: readonly Condition[]): OnnxError {
  const near = nearNames(graph, selector);
  const candidates = nearNodes(graph, conditions);
  const help = [
    ...(near.length === 0 ? [] : [describeNear(near)]),
    ...(candidates.length === 0 ? [] : [`nearest: ${candidates.join('; ')}`]),
  ];
  const options = help.length === 0 ? {} : { help: help.join(' ') };
  return new OnnxError('selector-matches-nothing', `no node of graph "${graph.name}" matches ${JSON.stringify(selector)}`, options);
}

function nearNames(graph: Graph, selector: NodeSelector): readonly string[] {
  const { name, op, output, input }: NodeFields = typeof selector === 'string' ? { name: selector } : selector;
  const nodes = [...graph.nodes.values()];
  const valuesOf = (of: (node: Node) => Node['inputs']): string[] => nodes.flatMap(node => namesOf(graph, of(node)));
  return [
    ...nearTo(name, () => nodes.map(node => node.name).filter(Boolean)),
    ...nearTo(op, () => nodes.map(node => node.opType)),
    ...nearTo(output, () => valuesOf(node => node.outputs)),
    ...nearTo(input, () => valuesOf(node => node.inputs)),
  ];
}

/** Similar names that do not match: if a name matches, another field is at fault. */
function nearTo(wanted: string | undefined, candidates: () => readonly string[]): readonly string[] {
  if (wanted === undefined) return [];
  const matches = makeNameMatcher(wanted);
  return findNear(
    wanted,
    candidates().filter(name => !matches(name)),
  );
}

/** Maximum number of nodes that a message lists. */
const MAX_LISTED = 3;

/** The nodes that match the most fields, with what they have instead of the others. */
function nearNodes(graph: Graph, conditions: readonly Condition[]): readonly string[] {
  if (conditions.length < 2) return [];
  const counted = [...graph.nodes.values()].map(node => ({ node, held: conditions.filter(({ holds }) => holds(node)).length }));
  const most = Math.max(0, ...counted.map(({ held }) => held));
  if (most === 0) return [];
  const best = counted.filter(({ held }) => held === most);
  const listed = best.slice(0, MAX_LISTED).map(({ node }) => {
    const reasons = conditions.filter(({ holds }) => !holds(node)).map(({ instead }) => instead(node));
    return `${describeNode(node, graph)} (${reasons.join(', ')})`;
  });
  return best.length > MAX_LISTED ? [...listed, `and ${best.length - MAX_LISTED} more`] : listed;
}
