/** How is a graph changed? Only by these functions, which keep producers, tables and names consistent. */
import { invariant } from '../../base/invariant.js';
import type { Attribute, Constant, Graph, Model, Node, NodeId, Value, ValueId, ValueType } from './model.js';
import { OnnxError } from './onnx-error.js';

export interface NewNode {
  readonly opType: string;
  readonly name?: string;
  readonly domain?: string;
  readonly inputs: readonly (ValueId | undefined)[];
  readonly attributes?: Readonly<Record<string, Attribute>> | ReadonlyMap<string, Attribute>;
  /** Outputs by name (new values are made), or existing values without a producer. */
  readonly outputs: readonly (string | ValueId | undefined)[];
  /** Where the node goes in the node order: before the given node; at the end where absent. */
  readonly before?: NodeId;
}

export function makeModel(options: { irVersion?: number; opset: number; graphName: string }): Model {
  const graph: Graph = {
    name: options.graphName,
    nodes: new Map(),
    values: new Map(),
    inputs: [],
    outputs: [],
    docString: '',
    metadata: new Map(),
    unknown: [],
  };
  return {
    irVersion: options.irVersion ?? 10,
    opsets: new Map([['', options.opset]]),
    producerName: 'tanren',
    producerVersion: '',
    domain: '',
    modelVersion: 0n,
    docString: '',
    metadata: new Map(),
    graph,
    unknown: [],
    nextId: 1,
  };
}

/** The value of `id`. Internal error where `graph` does not own it: ids are minted here, so a miss is our defect. */
export function getValue(graph: Graph, id: ValueId): Value {
  const value = graph.values.get(id);
  invariant(value !== undefined, `graph "${graph.name}" has no value ${id}`);
  return value;
}

export function getNode(graph: Graph, id: NodeId): Node {
  const node = graph.nodes.get(id);
  invariant(node !== undefined, `graph "${graph.name}" has no node ${id}`);
  return node;
}

/** The value named `name`, looked up in the table's order; O(values). Build an index where many are looked up. */
export function findValueByName(graph: Graph, name: string): Value | undefined {
  for (const value of graph.values.values()) if (value.name === name) return value;
  return undefined;
}

/** A name that no value of `graph`, or of a graph inside it, has: `wanted`, or `wanted` with the first free "_1", "_2", … */
export function freshName(graph: Graph, wanted: string): string {
  const taken = new Set<string>();
  collectValueNames(graph, taken);
  if (!taken.has(wanted)) return wanted;
  for (let n = 1; ; n++) if (!taken.has(`${wanted}_${n}`)) return `${wanted}_${n}`;
}

export function collectValueNames(graph: Graph, into: Set<string>): void {
  for (const value of graph.values.values()) into.add(value.name);
  for (const node of graph.nodes.values()) for (const sub of subgraphsOf(node)) collectValueNames(sub, into);
}

/** Adds a value that nothing produces yet; `name` must be free (see name-scope). @throws OnnxError `empty-name`. */
export function addValue(
  model: Model,
  graph: Graph,
  name: string,
  options: { type?: ValueType | undefined; constant?: Constant } = {},
): Value {
  if (name === '') throw new OnnxError('empty-name', `graph "${graph.name}": a value needs a name`);
  const value: Value = {
    id: model.nextId++ as ValueId,
    name,
    type: options.type,
    producer: undefined,
    constant: options.constant,
    docString: '',
    metadata: new Map(),
    unknown: [],
  };
  graph.values.set(value.id, value);
  return value;
}

/** Adds an initializer with its type. */
export function addInitializer(model: Model, graph: Graph, name: string, constant: Constant): Value {
  return addValue(model, graph, name, { constant, type: { kind: 'tensor', dtype: constant.dtype, dims: constant.dims } });
}

export function addInput(model: Model, graph: Graph, name: string, type: ValueType): Value {
  const value = addValue(model, graph, name, { type });
  graph.inputs.push(value.id);
  return value;
}

/** Adds a node and the output values that it names. Returns the node; `outputsOf(node)` are its values' ids. */
export function addNode(model: Model, graph: Graph, spec: NewNode): Node {
  const id = model.nextId++ as NodeId;
  const outputs = spec.outputs.map(output => {
    if (output === undefined) return undefined;
    const value = typeof output === 'string' ? addValue(model, graph, output) : getValue(graph, output);
    invariant(value.producer === undefined && value.constant === undefined, `value "${value.name}" already has a producer`);
    value.producer = id;
    return value.id;
  });
  const attributes = spec.attributes instanceof Map ? spec.attributes : new Map(Object.entries(spec.attributes ?? {}));
  const node: Node = {
    id,
    name: spec.name ?? '',
    opType: spec.opType,
    domain: spec.domain ?? '',
    overload: '',
    inputs: [...spec.inputs],
    outputs,
    attributes: new Map(attributes),
    docString: '',
    metadata: new Map(),
    unknown: [],
  };
  insertNode(graph, node, spec.before);
  return node;
}

function insertNode(graph: Graph, node: Node, before: NodeId | undefined): void {
  if (before === undefined) {
    graph.nodes.set(node.id, node);
    return;
  }
  const order = [...graph.nodes.values()];
  const position = order.findIndex(other => other.id === before);
  invariant(position >= 0, `graph "${graph.name}" has no node ${before}`);
  order.splice(position, 0, node);
  replaceNodeOrder(graph, order);
}

/** Puts the same nodes into another order. */
export function replaceNodeOrder(graph: Graph, order: readonly Node[]): void {
  graph.nodes.clear();
  for (const node of order) graph.nodes.set(node.id, node);
}

/** Removes a node; its outputs stay as values without a producer (remove or re-produce them next). */
export function removeNode(graph: Graph, id: NodeId): void {
  for (const output of getNode(graph, id).outputs) {
    const value = output === undefined ? undefined : graph.values.get(output);
    if (value !== undefined) value.producer = undefined;
  }
  graph.nodes.delete(id);
}

export function removeValue(graph: Graph, id: ValueId): void {
  graph.values.delete(id);
}

export function setInput(node: Node, index: number, value: ValueId | undefined): void {
  while (node.inputs.length <= index) node.inputs.push(undefined);
  node.inputs[index] = value;
}

/** Makes every node input and graph output that is `from` be `to`, in sub-graphs too. Names stay where they are. */
export function replaceAllUses(graph: Graph, from: ValueId, to: ValueId): void {
  replaceUses(graph, new Map([[from, to]]));
}

/** Makes each node input and graph output that is among `others` the value that takes its place, in sub-graphs too. */
export function replaceUses(graph: Graph, others: ReadonlyMap<ValueId, ValueId>): void {
  for (const node of graph.nodes.values()) {
    const { inputs } = node;
    for (let index = 0; index < inputs.length; index++) {
      const input = inputs[index];
      const other = input === undefined ? undefined : others.get(input);
      if (other !== undefined) inputs[index] = other;
    }
    for (const sub of subgraphsOf(node)) replaceUses(sub, others);
  }
  graph.outputs = graph.outputs.map(output => others.get(output) ?? output);
}

const NONE: readonly Graph[] = [];

/** The graphs that a node carries as attributes (If, Loop, Scan). */
export function subgraphsOf(node: Node): readonly Graph[] {
  let graphs: Graph[] | undefined;
  for (const attribute of node.attributes.values()) {
    if (attribute.kind !== 'graph' && attribute.kind !== 'graphs') continue;
    graphs ??= [];
    if (attribute.kind === 'graph') graphs.push(attribute.value);
    else graphs.push(...attribute.value);
  }
  return graphs ?? NONE;
}

/** One place where a value is used: input `index` of `node`. */
export interface Use {
  readonly node: Node;
  readonly index: number;
}

/** Where each value is used by nodes of `graph`; a use inside a sub-graph counts as a use by the node that carries it, with index −1. A snapshot: edits do not update it. */
export function indexUses(graph: Graph): ReadonlyMap<ValueId, readonly Use[]> {
  const uses = new Map<ValueId, Use[]>();
  const add = (value: ValueId, use: Use): void => {
    const list = uses.get(value);
    if (list === undefined) uses.set(value, [use]);
    else list.push(use);
  };
  const addCaptured = (sub: Graph, node: Node): void => {
    for (const inner of sub.nodes.values()) {
      for (const input of inner.inputs) if (input !== undefined && !sub.values.has(input)) add(input, { node, index: -1 });
      for (const nested of subgraphsOf(inner)) addCaptured(nested, node);
    }
    for (const output of sub.outputs) if (!sub.values.has(output)) add(output, { node, index: -1 });
  };
  for (const node of graph.nodes.values()) {
    for (const [index, input] of node.inputs.entries()) if (input !== undefined) add(input, { node, index });
    for (const sub of subgraphsOf(node)) addCaptured(sub, node);
  }
  return uses;
}
