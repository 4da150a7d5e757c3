/** Statistics of a model, in total and per node: nodes, parameters, multiply-accumulates, activations. */
import { byteLength } from '../../tensor/dtype.js';
import { countElements } from '../../tensor/shape.js';
import { subgraphsOf } from '../ir/edit.js';
import type { Constant, Graph, Model, Node, ValueId } from '../ir/model.js';
import { valuesReadBy } from '../ir/reads.js';
import { findConstantValue } from '../rewrite/graph-view.js';
import { byteLengthOf } from '../serde/file-constant.js';
import { isStatic } from '../shape-inference/context/dims.js';
import { formatDims } from '../shape-inference/context/node-context.js';
import { isMadeDim, type KnownTypes } from '../shape-inference/infer-shapes.js';
import { countMacs } from './macs.js';

export interface NodeStats {
  readonly node: string;
  readonly operator: string;
  /** Names and shapes of the outputs. */
  readonly outputs: readonly { readonly value: string; readonly shape: string }[];
  /** Number of elements of the constants that it reads. */
  readonly parameters: number;
  /** null: a dim is not known. */
  readonly macs: number | null;
  /** Bytes of the outputs; null: a dim is not known. */
  readonly activationBytes: number | null;
}

export interface ModelStats {
  /** Number of nodes of the main graph. */
  readonly nodes: number;
  /** Number of nodes of all subgraphs. */
  readonly innerNodes: number;
  /** Number of nodes of the main graph by operator, most frequent first. */
  readonly operators: Readonly<Record<string, number>>;
  /** Number of elements and bytes of all constants, each counted once. */
  readonly parameters: number;
  readonly parameterBytes: number;
  /** Sums over the nodes with known dims. */
  readonly macs: number;
  readonly activationBytes: number;
  /** Maximum bytes of inputs and activations that are alive at once, if nodes run in order. */
  readonly peakActivationBytes: number;
  /** Number of nodes with unknown dims, which are not in the sums. */
  readonly unknownNodes: number;
  readonly perNode: readonly NodeStats[];
}

/** @param types  inferred types of `model`, whose nodes are in topological order. */
export function measureModel(model: Model, types: KnownTypes): ModelStats {
  const { graph } = model;
  const nodes = [...graph.nodes.values()];
  const perNode = nodes.map(node => measureNode(model, node, types));
  const constants = new Set(listConstants(graph));
  const sum = (numbers: readonly (number | null)[]): number => numbers.reduce<number>((total, x) => total + (x ?? 0), 0);
  return {
    nodes: nodes.length,
    innerNodes: nodes.reduce((total, node) => total + countInner(node), 0),
    operators: countOperators(nodes),
    parameters: sum([...constants].map(({ dims }) => countElements(dims))),
    parameterBytes: sum([...constants].map(constant => ('bytes' in constant ? byteLengthOf(constant) : 0))),
    macs: sum(perNode.map(({ macs }) => macs)),
    activationBytes: sum(perNode.map(({ activationBytes }) => activationBytes)),
    peakActivationBytes: findPeak(graph, types),
    unknownNodes: perNode.filter(({ macs, activationBytes }) => macs === null || activationBytes === null).length,
    perNode,
  };
}

/** Number of nodes by operator, most frequent first. Operators of other domains are prefixed with the domain. */
export function countOperators(nodes: Iterable<Node>): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const node of nodes) counts.set(nameOperator(node), (counts.get(nameOperator(node)) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)));
}

/** Initializers and constants in attributes, including those of subgraphs. */
export function* listConstants(graph: Graph): Generator<Constant> {
  for (const { constant } of graph.values.values()) if (constant !== undefined) yield constant;
  for (const node of graph.nodes.values()) {
    for (const attribute of node.attributes.values()) {
      if (attribute.kind === 'tensor') yield attribute.value;
      if (attribute.kind === 'tensors') for (const { value } of attribute.value) yield value;
    }
    for (const sub of subgraphsOf(node)) yield* listConstants(sub);
  }
}

function nameOperator({ domain, opType }: Node): string {
  return domain === '' ? opType : `${domain}.${opType}`;
}

function countInner(node: Node): number {
  let count = 0;
  for (const sub of subgraphsOf(node)) for (const inner of sub.nodes.values()) count += 1 + countInner(inner);
  return count;
}

function measureNode(model: Model, node: Node, types: KnownTypes): NodeStats {
  const { graph } = model;
  const dimsOf = (id: ValueId | undefined) => (id === undefined ? undefined : types.get(id)?.dims);
  const outputs = node.outputs.filter(id => id !== undefined);
  const read = new Set(node.inputs.flatMap(id => constantOf(model, id) ?? []));
  const first = outputs[0] === undefined ? '' : (graph.values.get(outputs[0])?.name ?? '');
  const sizes = outputs.map(id => sizeOf(types, id));
  return {
    node: node.name === '' ? first : node.name,
    operator: nameOperator(node),
    outputs: outputs.map(id => ({
      value: graph.values.get(id)?.name ?? '',
      shape: formatDims(dimsOf(id)?.map(dim => (isMadeDim(dim) ? undefined : dim))),
    })),
    parameters: [...read].reduce((total, { dims }) => total + countElements(dims), 0),
    macs: countMacs(node, { input: index => dimsOf(node.inputs[index]), output: index => dimsOf(node.outputs[index]) }) ?? null,
    activationBytes: sizes.includes(null) ? null : sizes.reduce<number>((total, size) => total + (size ?? 0), 0),
  };
}

/** The constant of a value; an initializer that a caller may override counts too. */
function constantOf(model: Model, id: ValueId | undefined): Constant | undefined {
  return (id === undefined ? undefined : model.graph.values.get(id)?.constant) ?? findConstantValue(model, id);
}

function sizeOf(types: KnownTypes, id: ValueId): number | null {
  const type = types.get(id);
  if (type?.dtype === undefined || type.dtype === 'string' || !isStatic(type.dims)) return null;
  return byteLength(type.dtype, countElements(type.dims));
}

/** Simulates the nodes in order: outputs become alive, and values are freed after their last reader, including inputs of the graph. */
function findPeak(graph: Graph, types: KnownTypes): number {
  const nodes = [...graph.nodes.values()];
  const lastReader = new Map<ValueId, number>();
  for (const [index, node] of nodes.entries()) for (const id of valuesReadBy(node)) lastReader.set(id, index);
  for (const id of graph.outputs) lastReader.set(id, nodes.length);
  const alive = new Map<ValueId, number>();
  const start = (id: ValueId): void => {
    if (graph.values.get(id)?.constant === undefined) alive.set(id, sizeOf(types, id) ?? 0);
  };
  for (const id of graph.inputs) start(id);
  let peak = 0;
  for (const [index, node] of nodes.entries()) {
    for (const id of node.outputs) if (id !== undefined) start(id);
    peak = Math.max(
      peak,
      [...alive.values()].reduce((total, size) => total + size, 0),
    );
    for (const id of alive.keys()) if ((lastReader.get(id) ?? index) <= index) alive.delete(id);
  }
  return peak;
}
