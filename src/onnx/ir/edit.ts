/** All functions that edit a graph. They keep producers, tables and names consistent. */
import { invariant } from '../../base/invariant.js';
import type { Attribute, Constant, Graph, Model, Node, NodeId, Value, ValueId, ValueType } from './model.js';
import { OnnxError } from './onnx-error.js';

export interface NewNode {
  readonly opType: string;
  readonly name?: string;
  readonly domain?: string;
  readonly inputs: readonly (ValueId | undefined)[];
  readonly attributes?: Readonly<Record<string, Attribute>> | ReadonlyMap<string, Attribute>;
  /** Outputs: names of new values, or ids of existing values without a producer. */
  readonly outputs: readonly (string | ValueId | undefined)[];
  /** The node before which the new one is inserted. Default: at the end. */
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

/** The value with `id`. An id that `graph` does not own is an internal error. */
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

/** The first value named `name` in the order of the table. O(values): build an index for many lookups. */
export function findValueByName(graph: Graph, name: string): Value | undefined {
  for (const value of graph.values.values()) if (value.name === name) return value;
  return undefined;
}

/** A name that is unused in `graph` and its subgraphs: `wanted`, or `wanted` with the first free suffix "_1", "_2", … */
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

/** Adds a value without a producer; `name` must be unused (see name-scope). @throws OnnxError `empty-name`. */
export function addValue(
  model: Model,
  graph: Graph,
  name: string,
  options: { type?: ValueType | undefined; constant?: Constant } = {},
): Value {
  if (name === '') throw new OnnxError('empty-name', `graph "${graph.name}": the name of a value must not be empty`);
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

/** Adds a node and its new output values. @returns the node. */
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

/** Reorders the nodes; `order` must contain the same nodes. */
export function replaceNodeOrder(graph: Graph, order: readonly Node[]): void {
  graph.nodes.clear();
  for (const node of order) graph.nodes.set(node.id, node);
}

/** Removes a node. Its outputs are left as values without a producer: the caller removes them or gives them a new producer. */
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

/** Replaces `from` by `to` in all node inputs and graph outputs, including subgraphs. Values keep their names. */
export function replaceAllUses(graph: Graph, from: ValueId, to: ValueId): void {
  replaceUses(graph, new Map([[from, to]]));
}

/** Replaces the keys of `replacements` by their values in all node inputs and graph outputs, including subgraphs. */
export function replaceUses(graph: Graph, replacements: ReadonlyMap<ValueId, ValueId>): void {
  for (const node of graph.nodes.values()) {
    const { inputs } = node;
    for (let index = 0; index < inputs.length; index++) {
      const input = inputs[index];
      const other = input === undefined ? undefined : replacements.get(input);
      if (other !== undefined) inputs[index] = other;
    }
    for (const sub of subgraphsOf(node)) replaceUses(sub, replacements);
  }
  graph.outputs = graph.outputs.map(output => replacements.get(output) ?? output);
}

const NONE: readonly Graph[] = [];

/** The subgraphs of a node, which are attributes of If, Loop and Scan. */
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

/** One use of a value: input `index` of `node`. */
export interface Use {
  readonly node: Node;
  readonly index: number;
}

/** The uses of each value by nodes of `graph`; a use inside a subgraph is listed as a use by the node with the subgraph, with index −1. Edits do not update the result. */
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
