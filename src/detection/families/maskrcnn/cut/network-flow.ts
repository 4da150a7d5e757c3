/** Where does a network end, and where does another begin? Walks along the data of a graph, from weighted node to weighted node, past whatever stands between. */
import { getInt } from '../../../../onnx/ir/attribute.js';
import { indexUses } from '../../../../onnx/ir/edit.js';
import type { Constant, Dim, Graph, Model, Node, ValueId } from '../../../../onnx/ir/model.js';
import { findConstantValue } from '../../../../onnx/rewrite/graph-view.js';
import { inferShapes } from '../../../../onnx/shape-inference/infer-shapes.js';

/** Operators with a constant weight at input 1 and data at input 0. */
const WEIGHTED = new Set(['Conv', 'ConvTranspose', 'Gemm', 'MatMul']);

/** Operators inside a network, between its weighted nodes. */
const BETWEEN = new Set([
  ...['Add', 'Mul', 'BatchNormalization', 'Relu', 'LeakyRelu', 'Clip', 'HardSwish', 'Identity', 'Dropout', 'Cast'],
  ...['Flatten', 'Reshape', 'Squeeze', 'MaxPool', 'AveragePool', 'GlobalAveragePool', 'DepthToSpace'],
]);

/** Operators that tell of a tensor's form, not of its elements. */
const FORM = new Set(['Shape', 'Size']);

export interface Flow {
  readonly graph: Graph;
  nameOf(value: ValueId): string;
  dimsOf(value: ValueId): readonly Dim[] | undefined;
  producerOf(value: ValueId): Node | undefined;
  /** Nodes of the main graph that read it as data. */
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
    readersOf: value => (uses.get(value) ?? []).filter(({ index, node }) => index >= 0 && !FORM.has(node.opType)).map(({ node }) => node),
    constantOf: value => findConstantValue(model, value),
  };
}

export function isWeighted(flow: Flow, node: Node): boolean {
  return node.domain === '' && WEIGHTED.has(node.opType) && flow.constantOf(node.inputs[1]) !== undefined;
}

/** How many channels a weighted node gives. */
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

/** The first weighted nodes that see `from`, whatever moves or joins its elements on the way. */
export function findNextWeighted(flow: Flow, from: ValueId): readonly Node[] {
  return walk(flow, from, () => 'pass');
}

/** The weighted nodes at which the network that begins at `from` ends: no other follows within it. */
export function findLastWeighted(flow: Flow, from: ValueId): readonly Node[] {
  const within = (node: Node): 'pass' | 'stop' => (node.domain === '' && BETWEEN.has(node.opType) ? 'pass' : 'stop');
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

/** Weighted nodes reached from `from` without passing another, or a node at which `decide` stops. */
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

/** The weighted nodes behind `from` with none before them: where the network that makes it begins. */
export function findFirstWeighted(flow: Flow, from: readonly ValueId[]): readonly Node[] {
  const known = new Map<ValueId, boolean>();
  const firsts: Node[] = [];
  /** Whether a weighted node is among what makes `value`; every value is looked at once. */
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
