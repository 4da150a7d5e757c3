/**
 * Gives each reader of an int8 constant its own. Where sums of int8 weights would saturate, ONNX Runtime makes the weights uint8 at each reader, under a name derived
 * from the constant's: it does not load a model with two readers of one.
 */
import { addInitializer, addNode, indexUses } from '../../onnx/ir/edit.js';
import type { Constant, Graph, Model, Node, ValueId } from '../../onnx/ir/model.js';
import { makeNameScope, type NameScope } from '../../onnx/ir/name-scope.js';
import { scopesOf } from '../../onnx/ir/scope.js';
import { hoistConstants } from '../../onnx/passes/constants.js';
import { decodeModel } from '../../onnx/serde/decode-model.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import { readModel } from '../../onnx/serde/model-file.js';

/**
 * The model with the same results in which int8 constants, also those behind Identity, have one reader each, and so have their dequantizations.
 * @throws OnnxError as `readModel` and `encodeModel`.
 */
export async function encodeWithOwnConstants(file: string | Uint8Array): Promise<Uint8Array> {
  const model = typeof file === 'string' ? await readModel(file) : decodeModel(file);
  const names = makeNameScope(model.graph);
  for (const { graph } of scopesOf(model)) {
    hoistConstants(graph);
    splitDequantizers(model, graph, names);
    splitConstants(model, graph, names);
  }
  return encodeModel(model);
}

/** ONNX Runtime gives each reader of a DequantizeLinear one of its own, with the same constants. */
function splitDequantizers(model: Model, graph: Graph, names: NameScope): void {
  // One that is also an output, or read in a subgraph, keeps its own for that.
  const read = new Set<ValueId>([...graph.outputs, ...listCaptured(graph)]);
  for (const node of [...graph.nodes.values()]) {
    for (const [index, input] of node.inputs.entries()) {
      const producer = input === undefined ? undefined : graph.values.get(input)?.producer;
      const dequantizer = producer === undefined ? undefined : graph.nodes.get(producer);
      if (input === undefined || dequantizer?.opType !== 'DequantizeLinear' || int8Of(graph, dequantizer.inputs[0]) === undefined) continue;
      if (read.has(input)) node.inputs[index] = copyNode(model, graph, dequantizer, names, node);
      read.add(input);
    }
  }
}

/** Values that subgraphs read. */
function listCaptured(graph: Graph): readonly ValueId[] {
  return [...indexUses(graph)].flatMap(([value, uses]) => (uses.some(({ index }) => index < 0) ? [value] : []));
}

function copyNode(
  model: Model,
  graph: Graph,
  { opType, name, domain, inputs, attributes, outputs }: Node,
  names: NameScope,
  before: Node,
): ValueId | undefined {
  const [output] = outputs.map(id => (id === undefined ? undefined : names.take(graph.values.get(id)?.name ?? name)));
  return addNode(model, graph, { opType, name: '', domain, inputs, attributes, outputs: [output], before: before.id }).outputs[0];
}

function splitConstants(model: Model, graph: Graph, names: NameScope): void {
  const read = new Set<Constant>();
  for (const node of graph.nodes.values()) {
    if (node.opType === 'Identity') continue;
    for (const [index, input] of node.inputs.entries()) {
      const constant = int8Of(graph, input);
      if (constant === undefined || input === undefined) continue;
      if (read.has(constant))
        node.inputs[index] = addInitializer(model, graph, names.take(graph.values.get(input)?.name ?? 'int8'), constant).id;
      read.add(constant);
    }
  }
}

/** The int8 initializer that a value is, also through Identity. */
function int8Of(graph: Graph, id: ValueId | undefined): Constant | undefined {
  const value = id === undefined ? undefined : graph.values.get(id);
  if (value?.constant !== undefined)
    return value.constant.dtype === 'int8' && !graph.inputs.includes(value.id) ? value.constant : undefined;
  const producer = value?.producer === undefined ? undefined : graph.nodes.get(value.producer);
  return producer?.opType === 'Identity' ? int8Of(graph, producer.inputs[0]) : undefined;
}
