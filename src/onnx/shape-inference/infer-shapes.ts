/** Which dtype and shape has every value of a model? Read from inputs and constants, and carried through the nodes in order, together with the elements of small integer tensors. */
import type { Constant, Dim, Graph, Model, Node, Value, ValueId, ValueType } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { findIntegers } from './context/constant-elements.js';
import { findConstantOf } from './context/constant-node.js';
import { describeNode, formatDims, type Known, type NodeContext } from './context/node-context.js';
import { findInferFunction } from './registry.js';

export interface InferOptions {
  /** What types that the file states for values inside the graph are worth. 'ignore' is for a graph whose attributes were just changed. Default: 'trust'. */
  readonly stated?: 'trust' | 'ignore';
  /** Whether elements of integer tensors are carried through Shape, Gather, Concat and the like. Default: 'on'. */
  readonly dataPropagation?: 'on' | 'off';
}

/** What is known of each value, sub-graphs included. A size that nothing names has a made name, equal where two sizes are surely equal. */
export type KnownTypes = Map<ValueId, Known>;

/** An inference under way: patches use it to infer nodes that they add. */
export interface Inference {
  readonly types: KnownTypes;
  /** Infers one node whose inputs are known as far as they can be, and records its outputs. `graphs`: from the model's own to the one that the node stands in. */
  inferNode(graphs: readonly Graph[], node: Node): void;
}

const MADE = /^unk__\d+$/;

/** Is `dim` a name that inference made, not one of the model's? */
export function isMadeDim(dim: Dim): boolean {
  return typeof dim === 'string' && MADE.test(dim);
}

/**
 * Infers all types of `model`, whose nodes are in topological order. The model is not changed: see `writeTypes`.
 * @throws OnnxError `shape-mismatch` where a node's inputs cannot go together; `shape-contradiction` where what is stated and what is inferred differ.
 */
export function inferShapes(model: Model, options: InferOptions = {}): KnownTypes {
  return startInference(model, options).types;
}

export function startInference(model: Model, options: InferOptions = {}): Inference {
  const state: State = { model, types: new Map(), names: collectNames(model.graph), options, graphs: [], stated: 'types', next: 0 };
  inferGraph(state, model.graph, undefined);
  return {
    types: state.types,
    inferNode(graphs, node) {
      const graph = graphs.at(-1);
      if (graph === undefined) return;
      state.graphs.push(...graphs);
      try {
        inferNode(state, graph, node);
      } finally {
        state.graphs.length = 0;
      }
    },
  };
}

/** Writes known types into the values of `model`, in sub-graphs too; made names become unknown sizes. Outputs of the model keep the names of their sizes. */
export function writeTypes(model: Model, types: KnownTypes): void {
  writeGraphTypes(model.graph, types);
}

interface State {
  readonly model: Model;
  readonly types: KnownTypes;
  readonly names: ReadonlySet<string>;
  readonly options: InferOptions;
  /** From the model's graph to the one being inferred. */
  readonly graphs: Graph[];
  /** What of stated types holds for values inside: in the body of a Loop that changes sizes only dtypes do. */
  stated: 'types' | 'dtypes';
  next: number;
}

function inferGraph(state: State, graph: Graph, inputs: readonly (Known | undefined)[] | undefined): void {
  state.graphs.push(graph);
  for (const value of graph.values.values()) {
    if (value.producer !== undefined) continue;
    const position = graph.inputs.indexOf(value.id);
    const given = position >= 0 ? inputs?.[position] : undefined;
    const own = knownOfValue(state, value, position < 0 || isFixed(state.model) ? 'fixed' : 'default');
    state.types.set(value.id, nameUnknown(state, given === undefined ? own : merge(value, undefined, own, given)));
  }
  for (const node of graph.nodes.values()) inferNode(state, graph, node);
  state.graphs.pop();
}

/** Before IR version 4 an initializer is an input too, and nothing can override it. */
const isFixed = (model: Model): boolean => model.irVersion < 4;

function knownOfValue(state: State, value: Value, constant: 'fixed' | 'default'): Known {
  if (value.constant === undefined) return knownAsStated(state, value.type);
  return constant === 'fixed' ? knownOfConstant(value.constant) : { dtype: value.constant.dtype, dims: value.constant.dims };
}

export function knownOfConstant(constant: Constant): Known {
  return { dtype: constant.dtype, dims: constant.dims, elements: findIntegers(constant) };
}

function knownAsStated(state: State, type: ValueType | undefined): Known {
  const { dtype, dims } = knownOfType(type);
  return { dtype, dims: state.stated === 'types' ? dims : undefined };
}

function knownOfType(type: ValueType | undefined): Known {
  return type?.kind === 'tensor' ? { dtype: type.dtype, dims: type.dims } : { dtype: undefined, dims: undefined };
}

function inferNode(state: State, graph: Graph, node: Node): void {
  const infer = findInferFunction(node.domain, node.opType);
  const inferred = infer === undefined ? [] : infer(makeContext(state, node));
  for (const [index, id] of node.outputs.entries()) {
    const value = id === undefined ? undefined : graph.values.get(id);
    if (value === undefined) continue;
    const stated = state.options.stated === 'ignore' ? undefined : value.type;
    state.types.set(value.id, nameUnknown(state, merge(value, node, withoutMadeNames(knownAsStated(state, stated)), inferred[index])));
  }
}

/** Files carry names that an earlier inference made (onnx makes them in the same form): they say nothing. */
function withoutMadeNames(type: Known): Known {
  return type.dims === undefined ? type : { ...type, dims: type.dims.map(dim => (isMadeDim(dim) ? undefined : dim)) };
}

function makeContext(state: State, node: Node): NodeContext {
  const at = (index: number): Known | undefined => {
    const id = node.inputs[index];
    return id === undefined ? undefined : state.types.get(id);
  };
  return {
    node,
    label: describeNode(node, state.graphs.at(-1)),
    opset: state.model.opsets.get(node.domain) ?? 1,
    has: index => node.inputs[index] !== undefined,
    dtype: index => at(index)?.dtype,
    dims: index => at(index)?.dims,
    elements: index => (state.options.dataPropagation === 'off' ? constantElements(state, node.inputs[index]) : at(index)?.elements),
    constant: index => findConstant(state, node.inputs[index]),
    describe: index => describeInput(state, node.inputs[index], at(index)),
    inferSubgraph(graph, inputs, stated = 'types') {
      const outer = state.stated;
      if (stated === 'dtypes') state.stated = stated;
      inferGraph(state, graph, inputs);
      state.stated = outer;
      return graph.outputs.map(id => state.types.get(id));
    },
  };
}

function constantElements(state: State, id: ValueId | undefined): readonly Dim[] | undefined {
  return findIntegers(findConstant(state, id));
}

function findConstant(state: State, id: ValueId | undefined): Constant | undefined {
  if (id === undefined) return undefined;
  for (const graph of state.graphs.toReversed()) {
    const value = graph.values.get(id);
    if (value === undefined) continue;
    if (value.constant !== undefined) return graph.inputs.includes(id) && !isFixed(state.model) ? undefined : value.constant;
    const producer = value.producer === undefined ? undefined : graph.nodes.get(value.producer);
    return producer && findConstantOf(producer);
  }
  return undefined;
}

function describeInput(state: State, id: ValueId | undefined, type: Known | undefined): string {
  const value = id === undefined ? undefined : state.graphs.map(graph => graph.values.get(id)).find(found => found !== undefined);
  return `"${value?.name ?? ''}" (${formatDims(type?.dims?.map(dim => (isMadeDim(dim) ? '?' : dim)))})`;
}

/** Joins what is stated with what is inferred: numbers before names, stated names before inferred ones. */
function merge(value: Value, node: Node | undefined, stated: Known, inferred: Known | undefined): Known {
  if (inferred === undefined) return stated;
  const { dtype } = inferred;
  if (dtype !== undefined && stated.dtype !== undefined && dtype !== stated.dtype) throw contradiction(value, node, stated, inferred);
  if (stated.dims === undefined) return { ...inferred, dtype: dtype ?? stated.dtype };
  if (inferred.dims === undefined) return { ...stated, dtype: dtype ?? stated.dtype, elements: inferred.elements };
  if (stated.dims.length !== inferred.dims.length) throw contradiction(value, node, stated, inferred);
  const dims = stated.dims.map((dim, axis) => {
    const other = inferred.dims?.[axis];
    if (typeof dim === 'number' && typeof other === 'number' && dim !== other) throw contradiction(value, node, stated, inferred);
    return typeof other === 'number' ? other : (dim ?? other);
  });
  return { dtype: dtype ?? stated.dtype, dims, elements: inferred.elements };
}

function contradiction(value: Value, node: Node | undefined, stated: Known, inferred: Known): OnnxError {
  const where = node === undefined ? 'graph input' : describeNode(node);
  const show = (type: Known): string => `${type.dtype ?? '?'} ${formatDims(type.dims?.map(dim => (isMadeDim(dim) ? '?' : dim)))}`;
  return new OnnxError(
    'shape-contradiction',
    `${where}: value "${value.name}" is stated as ${show(stated)}, its inputs and attributes make it ${show(inferred)}`,
    { details: { value: value.name, node: node?.name ?? '', stated: show(stated), inferred: show(inferred) } },
  );
}

/** Gives each unknown size a made name, so that sizes that are surely equal can be told from those that may differ. */
function nameUnknown(state: State, type: Known): Known {
  if (type.dims === undefined || type.dims.every(dim => dim !== undefined)) return type;
  return { ...type, dims: type.dims.map(dim => dim ?? makeName(state)) };
}

function makeName(state: State): string {
  for (;;) {
    const name = `unk__${state.next++}`;
    if (!state.names.has(name)) return name;
  }
}

/** The names of sizes that the model itself uses. */
function collectNames(graph: Graph): Set<string> {
  const names = new Set<string>();
  for (const value of graph.values.values()) {
    if (value.type?.kind === 'tensor') for (const dim of value.type.dims ?? []) if (typeof dim === 'string') names.add(dim);
  }
  return names;
}

function writeGraphTypes(graph: Graph, types: KnownTypes): void {
  for (const value of graph.values.values()) {
    const type = types.get(value.id);
    if (type === undefined || value.type?.kind === 'other' || value.constant !== undefined || graph.inputs.includes(value.id)) continue;
    if (type.dtype === undefined && type.dims === undefined) continue;
    value.type = { kind: 'tensor', dtype: type.dtype, dims: type.dims?.map(dim => (isMadeDim(dim) ? undefined : dim)) };
  }
  for (const node of graph.nodes.values()) {
    for (const attribute of node.attributes.values()) {
      if (attribute.kind === 'graph') writeGraphTypes(attribute.value, types);
      if (attribute.kind === 'graphs') for (const sub of attribute.value) writeGraphTypes(sub, types);
    }
  }
}
