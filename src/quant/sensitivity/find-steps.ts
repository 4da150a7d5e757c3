/** Divides a float model into steps at the values that its quantized model has too: what a step computes can be compared, and replaced. */
import { getDefined, invariant } from '../../base/invariant.js';
import { cloneModel } from '../../onnx/ir/clone.js';
import { getValue, indexUses, type Use } from '../../onnx/ir/edit.js';
import type { Model, Node, NodeId, Value, ValueId } from '../../onnx/ir/model.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import { inferShapes, writeTypes } from '../../onnx/shape-inference/infer-shapes.js';
import { alignOpsets } from '../../onnx/surgery/splice.js';
import { readsOf } from '../../runtime/capture/segments.js';
import { matchValues } from '../compare/match-values.js';
import { QuantError } from '../integers/quant-error.js';

export interface Step {
  /** What it computes in the float model. */
  readonly value: Value;
  /** Its nodes in the float model, in graph order; none for an input of the model. */
  readonly nodes: readonly Node[];
  /** The values of earlier steps that it reads, each once. Inputs that are not quantized are no steps. */
  readonly reads: readonly ValueId[];
  /** The value of the quantized model that readers see: the output of DequantizeLinear where it is quantized. */
  readonly seen: ValueId;
  /** All values of the quantized model that stand for it: before QuantizeLinear, and behind each DequantizeLinear. */
  readonly forms: readonly ValueId[];
  /** Scale, zero point and type of its integers; undefined if it is not quantized. */
  readonly quantizer: Node | undefined;
}

export interface SteppedModels {
  /** Copies with equal operator sets and inferred types. */
  readonly float: Model;
  readonly quantized: Model;
  /** In topological order, by the value of the float model. */
  readonly steps: ReadonlyMap<ValueId, Step>;
  /** Inputs of the float model to those of the quantized one. */
  readonly inputs: ReadonlyMap<ValueId, ValueId>;
}

/**
 * Steps end at quantized values, at outputs, and at values with several readers. Models need inputs and outputs in the same order.
 * @throws QuantError `layers-differ`; OnnxError as shape inference and conversion of operator sets.
 */
export function findSteps(floatModel: Model, quantizedModel: Model): SteppedModels {
  const [float, quantized] = [cloneModel(floatModel), cloneModel(quantizedModel)];
  for (const model of [float, quantized]) sortTopologically(model.graph);
  alignOpsets(float, quantized);
  for (const model of [float, quantized]) writeTypes(model, inferShapes(model));
  const inputs = pairEnds(float, quantized, 'inputs');
  const partners = new Map(matchValues(float, quantized).pairs.map(({ original, other }) => [original.id, other.id]));
  for (const [own, other] of [...inputs, ...pairEnds(float, quantized, 'outputs')]) if (!partners.has(own)) partners.set(own, other);
  const uses = { float: indexUses(float.graph), quantized: indexUses(quantized.graph) };
  const ends = new Map<ValueId, Forms>();
  for (const [id, other] of partners) {
    const forms = formsOf(quantized, uses.quantized, other);
    if (isEnd(float, id, uses.float.get(id) ?? [], forms)) ends.set(id, forms);
  }
  const steps = new Map<ValueId, Step>();
  for (const id of [...float.graph.inputs, ...[...float.graph.nodes.values()].flatMap(({ outputs }) => outputs)]) {
    const forms = id === undefined ? undefined : ends.get(id);
    if (id !== undefined && forms !== undefined) steps.set(id, { value: getValue(float.graph, id), ...forms, ...cutStep(float, id, ends) });
  }
  return { float, quantized, steps, inputs };
}

function pairEnds(float: Model, quantized: Model, side: 'inputs' | 'outputs'): ReadonlyMap<ValueId, ValueId> {
  const list = ({ graph }: Model): readonly Value[] =>
    graph[side].map(id => getValue(graph, id)).filter(({ constant }) => side === 'outputs' || constant === undefined);
  const [own, others] = [list(float), list(quantized)];
  if (own.length !== others.length) {
    throw new QuantError('layers-differ', `the float model has ${own.length} ${side}, and the quantized model ${others.length}`, {
      help: 'connect the float model that was quantized',
    });
  }
  const names = new Map(others.map(value => [value.name, value]));
  return new Map(own.map(({ id, name }, index) => [id, (names.get(name) ?? getDefined(others[index], 'value at this position')).id]));
}

interface Forms extends Pick<Step, 'seen' | 'forms' | 'quantizer'> {}

/** What stands for the value that `id` shows in the quantized model. */
function formsOf({ graph }: Model, uses: ReadonlyMap<ValueId, readonly Use[]>, id: ValueId): Forms {
  const before = (of: ValueId, opType: string): ValueId | undefined => {
    const { producer } = getValue(graph, of);
    const node = producer === undefined ? undefined : graph.nodes.get(producer);
    return node?.opType === opType ? node.inputs[0] : undefined;
  };
  const integers = before(id, 'DequantizeLinear');
  const root = integers === undefined ? id : (before(integers, 'QuantizeLinear') ?? id);
  const readers = (of: ValueId, opType: string): readonly Node[] =>
    (uses.get(of) ?? []).filter(({ node, index }) => index === 0 && node.opType === opType).map(({ node }) => node);
  const quantizers = readers(root, 'QuantizeLinear');
  const dequantized = quantizers
    .flatMap(({ outputs: [output] }) => (output === undefined ? [] : readers(output, 'DequantizeLinear')))
    .flatMap(({ outputs: [output] }) => output ?? []);
  return { seen: dequantized[0] ?? id, forms: [...new Set([root, id, ...dequantized])], quantizer: quantizers[0] };
}

function isEnd({ graph }: Model, id: ValueId, uses: readonly Use[], { quantizer }: Forms): boolean {
  const { producer } = getValue(graph, id);
  if (producer === undefined) return quantizer !== undefined;
  if (graph.nodes.get(producer)?.opType === 'Constant') return false;
  return quantizer !== undefined || graph.outputs.includes(id) || uses.length > 1;
}

/** The nodes between the ends before `id` and `id`. */
function cutStep({ graph }: Model, id: ValueId, ends: ReadonlyMap<ValueId, unknown>): Pick<Step, 'nodes' | 'reads'> {
  const found = new Set<NodeId>();
  const reads = new Set<ValueId>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next !== id && ends.has(next)) {
      reads.add(next);
      continue;
    }
    const producer = graph.values.get(next)?.producer;
    if (producer === undefined || found.has(producer)) continue;
    found.add(producer);
    const node = graph.nodes.get(producer);
    invariant(node !== undefined, 'a producer is a node of the graph');
    open.push(...readsOf(node));
  }
  const nodes = [...graph.nodes.values()].filter(node => found.has(node.id));
  const order = [...new Set(nodes.flatMap(node => [...readsOf(node)]))];
  return { nodes, reads: order.filter(read => reads.has(read)) };
}

/** What the step computes, on other inputs: a graph whose inputs are the values that it reads, and inputs of the model. */
export function graphOf({ float, inputs }: SteppedModels, { value, nodes, reads }: Step) {
  const { graph } = float;
  const ids = new Set<ValueId>([value.id, ...nodes.flatMap(node => [...readsOf(node), ...node.outputs.flatMap(id => id ?? [])])]);
  const values = new Map([...ids].flatMap(id => (graph.values.has(id) ? [[id, getValue(graph, id)] as const] : [])));
  return {
    graph: { ...graph, nodes: new Map(nodes.map(node => [node.id, node])), values, inputs: [], outputs: [], unknown: [] },
    /** Inputs of the model that it reads directly. */
    direct: [...ids].filter(id => inputs.has(id) && !reads.includes(id)),
  };
}
