/** Inlining of subgraphs: their nodes are copied into the outer graph with new ids and names. */
import { getDefined } from '../../base/invariant.js';
import { addNode, addValue, removeNode, replaceNodeOrder } from './edit.js';
import type { Attribute, Graph, Model, Node, NodeId, ValueId } from './model.js';
import type { NameScope } from './name-scope.js';

export interface Inlining {
  readonly model: Model;
  readonly graph: Graph;
  /** Names used in `graph` and its subgraphs. */
  readonly names: NameScope;
  /** Names of the nodes of `graph`: ONNX Runtime refuses two nodes of one name. */
  readonly nodeNames: NameScope;
  /** The node with the subgraph; copies are inserted before it. */
  readonly before: NodeId;
}

/**
 * Copies the nodes of `sub` before a node of the outer graph, with `inputs` in place of its inputs.
 * @returns the values that replace its outputs: copies, the given inputs, or values of outer graphs.
 */
export function inlineSubgraph(into: Inlining, sub: Graph, inputs: readonly ValueId[]): readonly ValueId[] {
  const ids = new Map<ValueId, ValueId>(
    sub.inputs.map((input, index) => [input, getDefined(inputs[index], `input ${index} of a subgraph`)]),
  );
  copyValues(into, into.graph, sub, ids);
  const copies = [...sub.nodes.values()].map(node => {
    const copy = copyNode(into, node, ids, into.graph);
    return copy.name === '' ? copy : { ...copy, name: into.nodeNames.take(copy.name) };
  });
  const order = [...into.graph.nodes.values()];
  order.splice(
    order.findIndex(node => node.id === into.before),
    0,
    ...copies,
  );
  replaceNodeOrder(into.graph, order);
  return sub.outputs.map(output => ids.get(output) ?? output);
}

/** Replaces `node` by Identity nodes from `values` to its outputs, which keep their ids and names; the pass `remove-identity` removes these nodes. */
export function replaceByIdentities({ model, graph }: Inlining, node: Node, values: readonly ValueId[]): void {
  const order = [...graph.nodes.keys()];
  const next = order[order.indexOf(node.id) + 1];
  removeNode(graph, node.id);
  for (const [index, output] of node.outputs.entries()) {
    const value = values[index];
    if (output === undefined || value === undefined) continue;
    addNode(model, graph, { opType: 'Identity', inputs: [value], outputs: [output], ...(next === undefined ? {} : { before: next }) });
  }
}

/** Sorts the table of values as decoding a file does: inputs, constants, and outputs of the nodes in order. */
export function sortValues(graph: Graph): void {
  const constants = [...graph.values.values()].filter(value => value.constant !== undefined).map(value => value.id);
  const made = [...graph.nodes.values()].flatMap(node => node.outputs.filter(output => output !== undefined));
  const order = new Set([...graph.inputs, ...constants, ...made, ...graph.values.keys()]);
  const values = [...order].map(id => graph.values.get(id)).filter(value => value !== undefined);
  graph.values.clear();
  for (const value of values) graph.values.set(value.id, value);
}

/** Copies every value of `sub` that is not in `ids` to `target`. */
function copyValues({ model, names }: Inlining, target: Graph, sub: Graph, ids: Map<ValueId, ValueId>): void {
  for (const value of sub.values.values()) {
    if (ids.has(value.id)) continue;
    const copy = addValue(model, target, names.take(value.name), { type: value.type });
    copy.constant = value.constant;
    copy.docString = value.docString;
    copy.metadata = new Map(value.metadata);
    ids.set(value.id, copy.id);
  }
}

function copyNode(into: Inlining, node: Node, ids: ReadonlyMap<ValueId, ValueId>, target: Graph): Node {
  const mapped = (id: ValueId | undefined): ValueId | undefined => (id === undefined ? undefined : (ids.get(id) ?? id));
  const copy: Node = {
    ...node,
    id: into.model.nextId++ as NodeId,
    inputs: node.inputs.map(mapped),
    outputs: node.outputs.map(mapped),
    attributes: new Map([...node.attributes].map(([name, attribute]): [string, Attribute] => [name, copyAttribute(into, attribute, ids)])),
    metadata: new Map(node.metadata),
  };
  for (const output of copy.outputs) {
    const value = output === undefined ? undefined : target.values.get(output);
    if (value !== undefined) value.producer = copy.id;
  }
  return copy;
}

function copyAttribute(into: Inlining, attribute: Attribute, ids: ReadonlyMap<ValueId, ValueId>): Attribute {
  if (attribute.kind === 'graph') return { kind: 'graph', value: copyGraph(into, attribute.value, ids) };
  if (attribute.kind === 'graphs') return { kind: 'graphs', value: attribute.value.map(graph => copyGraph(into, graph, ids)) };
  return attribute;
}

/** Copies a nested subgraph, which may read values that `outer` maps. */
function copyGraph(into: Inlining, graph: Graph, outer: ReadonlyMap<ValueId, ValueId>): Graph {
  const copy: Graph = { ...graph, nodes: new Map(), values: new Map(), metadata: new Map(graph.metadata) };
  const ids = new Map(outer);
  for (const value of graph.values.keys()) ids.delete(value);
  copyValues(into, copy, graph, ids);
  const mapped = (id: ValueId): ValueId => ids.get(id) ?? id;
  for (const node of graph.nodes.values()) {
    const made = copyNode(into, node, ids, copy);
    copy.nodes.set(made.id, made);
  }
  copy.inputs = graph.inputs.map(mapped);
  copy.outputs = graph.outputs.map(mapped);
  return copy;
}
