/** Walks along the data flow of a graph between weighted nodes, to find where a network begins and ends. */
import { getInt } from '../../../../onnx/ir/attribute.js';
import { indexUses } from '../../../../onnx/ir/edit.js';
import type { Constant, Dim, Graph, Model, Node, ValueId } from '../../../../onnx/ir/model.js';
import { findConstantValue } from '../../../../onnx/rewrite/graph-view.js';
import { inferShapes } from '../../../../onnx/shape-inference/infer-shapes.js';

/** Operators with a constant weight at input 1 and data at input 0. */
const WEIGHTED = new Set(['Conv', 'ConvTranspose', 'Gemm', 'MatMul']);

/** Operators inside of a network, between its weighted nodes. */
const INNER = new Set([
  ...['Add', 'Mul', 'BatchNormalization', 'Relu', 'LeakyRelu', 'Clip', 'HardSwish', 'Identity', 'Dropout', 'Cast'],
  ...['Flatten', 'Reshape', 'Squeeze', 'MaxPool', 'AveragePool', 'GlobalAveragePool', 'DepthToSpace'],
]);

/** Operators that read only the shape of a tensor. */
const SHAPE_READERS = new Set(['Shape', 'Size']);

export interface Flow {
  readonly graph: Graph;
  nameOf(value: ValueId): string;
  dimsOf(value: ValueId): readonly Dim[] | undefined;
  producerOf(value: ValueId): Node | undefined;
  /** Nodes of the main graph that read the elements of the value. */
  readersOf(value: ValueId): readonly Node[];
  constantOf(value: ValueId | undefined): Constant | undefined;
}

/** A snapshot of the main graph of `model`. */
export function readFlow(model: Model): Flow {
  const { graph } = model;
  const uses = indexUses(graph);
  const types = inferShapes(model);
  return {
    graph,
    nameOf: value => graph.values.get(value)?.name ?? '',
    dimsOf: value => types.get(value)?.dims,
    producerOf(value) {
      const producer = graph.values.get(value)?.producer;
      return producer === undefined ? undefined : graph.nodes.get(producer);
    },
    readersOf: value =>
      (uses.get(value) ?? []).filter(({ index, node }) => index >= 0 && !SHAPE_READERS.has(node.opType)).map(({ node }) => node),
    constantOf: value => findConstantValue(model, value),
  };
}

export function isWeighted(flow: Flow, node: Node): boolean {
  return node.domain === '' && WEIGHTED.has(node.opType) && flow.constantOf(node.inputs[1]) !== undefined;
}

/** Number of output channels of a weighted node. */
export function outputChannels(flow: Flow, node: Node): number {
  const dims = flow.constantOf(node.inputs[1])?.dims ?? [];
  switch (node.opType) {
    case 'Conv':
      return dims[0] ?? 0;
    case 'ConvTranspose':
      return (dims[1] ?? 0) * getInt(node, 'group', 1);
    case 'Gemm':
      return dims[getInt(node, 'transB', 0) === 0 ? 1 : 0] ?? 0;
    default:
      return dims.at(-1) ?? 0;
  }
}

/** The first weighted nodes after `from`, through any other operators. */
export function findNextWeighted(flow: Flow, from: ValueId): readonly Node[] {
  return walk(flow, from, () => 'pass');
}

/** The last weighted nodes of the network that begins at `from`. */
export function findLastWeighted(flow: Flow, from: ValueId): readonly Node[] {
  const within = (node: Node): 'pass' | 'stop' => (node.domain === '' && INNER.has(node.opType) ? 'pass' : 'stop');
  const last: Node[] = [];
  const pending = [...walk(flow, from, within)];
  const seen = new Set(pending);
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const next = node.outputs.flatMap(output => (output === undefined ? [] : walk(flow, output, within)));
    if (next.length === 0) last.push(node);
    for (const follower of next) {
      if (seen.has(follower)) continue;
      seen.add(follower);
      pending.push(follower);
    }
  }
  return last;
}

/** The weighted nodes reached from `from` without passing another weighted node or a node where `decide` stops. */
function walk(flow: Flow, from: ValueId, decide: (node: Node) => 'pass' | 'stop'): readonly Node[] {
  const found: Node[] = [];
  const pending = [from];
  const seen = new Set<Node>();
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    for (const node of flow.readersOf(value)) {
      if (seen.has(node)) continue;
      seen.add(node);
      if (isWeighted(flow, node)) found.push(node);
      else if (decide(node) === 'pass') pending.push(...node.outputs.filter(output => output !== undefined));
    }
  }
  return found;
}

/** The first weighted nodes of the network that computes `from`: no weighted node precedes them. */
export function findFirstWeighted(flow: Flow, from: readonly ValueId[]): readonly Node[] {
  const known = new Map<ValueId, boolean>();
  const firsts: Node[] = [];
  // Visits every value once, and records whether a weighted node precedes it.
  const pending: { readonly value: ValueId; readonly after: boolean }[] = from.map(value => ({ value, after: false }));
  for (let step = pending.pop(); step !== undefined; step = pending.pop()) {
    const { value, after } = step;
    const node = flow.producerOf(value);
    const inputs = (node?.inputs ?? []).filter(input => input !== undefined);
    if (after) {
      const behind = inputs.some(input => known.get(input) === true);
      const weighted = node !== undefined && isWeighted(flow, node);
      if (weighted && !behind && !firsts.includes(node)) firsts.push(node);
      known.set(value, behind || weighted);
      continue;
    }
    if (known.has(value)) continue;
    known.set(value, false);
    pending.push({ value, after: true }, ...inputs.map(input => ({ value: input, after: false })));
  }
  return firsts;
}
