/** The float form of a QDQ model, for judging what another quantization makes of it. */
import { getValue, removeNode, replaceUses } from '../../onnx/ir/edit.js';
import type { Graph, Model, Node, ValueId } from '../../onnx/ir/model.js';
import type { Evaluate } from '../../onnx/passes/evaluate.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import { extractSubgraph } from '../../onnx/surgery/extract.js';
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import { DEQUANTIZE, prepareModel, QUANTIZE } from '../units/prepare-model.js';
import { findQuantizedConstant } from '../units/unit-facts.js';

/** A copy without Q and DQ: weights and biases are the float values of their integers, and integer inputs become float inputs. @throws OnnxError of shape inference. */
export async function removeQuantization(model: Model, evaluate: Evaluate): Promise<Model> {
  const copy = await prepareModel(model, evaluate);
  const { graph } = copy;
  const quantizers = [...graph.nodes.values()].filter(({ opType }) => opType === QUANTIZE || opType === DEQUANTIZE);
  await dequantizeConstants(copy, quantizers, evaluate);
  const replaced = new Map<ValueId, ValueId>();
  for (const node of quantizers) {
    const [input] = node.inputs;
    const [output] = node.outputs;
    if (input === undefined || output === undefined || getValue(graph, output).constant !== undefined) continue;
    replaced.set(output, input);
    removeNode(graph, node.id);
  }
  const ends = new Map([...replaced.keys()].map(id => [id, endOf(replaced, id)] as const));
  replaceUses(graph, ends);
  forgetTypes(graph, new Set(ends.values()));
  return copy;
}

/** Chains of Q and DQ end at the value that the first of them reads. */
function endOf(replaced: ReadonlyMap<ValueId, ValueId>, id: ValueId): ValueId {
  let end = id;
  for (let next = replaced.get(end); next !== undefined; next = replaced.get(end)) end = next;
  return end;
}

async function dequantizeConstants(model: Model, quantizers: readonly Node[], evaluate: Evaluate): Promise<void> {
  const { graph } = model;
  const isConstant = (node: Node): boolean =>
    node.inputs.slice(1).every(id => id === undefined || findConstantValue(model, id) !== undefined) &&
    findQuantizedConstant(model, node) !== undefined;
  const constant = quantizers.filter(node => node.opType === DEQUANTIZE && isConstant(node));
  const named = new Map(constant.flatMap(node => node.outputs.flatMap(id => (id === undefined ? [] : [[getValue(graph, id).name, id]]))));
  if (named.size === 0) return;
  const tensors = await evaluate(extractSubgraph(model, { inputs: [], outputs: [...named.keys()] }));
  for (const [name, tensor] of Object.entries(tensors)) {
    const id = named.get(name);
    if (id === undefined || tensor.dtype === 'string') continue;
    getValue(graph, id).constant = encodeRawTensor(tensor);
  }
  for (const node of constant) removeNode(graph, node.id);
}

/** Values between nodes keep no type; inputs that were integers become float. */
function forgetTypes(graph: Graph, ends: ReadonlySet<ValueId>): void {
  const inputs = new Set(graph.inputs);
  for (const value of graph.values.values()) {
    if (value.constant !== undefined || value.type?.kind !== 'tensor') continue;
    if (!inputs.has(value.id)) value.type = undefined;
    else if (ends.has(value.id)) value.type = { ...value.type, dtype: 'float32' };
  }
}
