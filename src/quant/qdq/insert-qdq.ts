/** Turns a quantization plan into a QDQ model: Q and DQ around every planned activation, DQ after every quantized constant. */
import { getDefined } from '../../base/invariant.js';
import { getNode, getValue, indexUses, removeNode, removeValue, replaceAllUses, setInput, type Use } from '../../onnx/ir/edit.js';
import type { Model, Node, ValueId } from '../../onnx/ir/model.js';
import { QuantError } from '../integers/quant-error.js';
import type { ActivationPlan } from '../placement/plan-activations.js';
import type { BiasPlan, WeightPlan } from '../placement/plan-constants.js';
import type { QuantizationPlan } from '../placement/plan-quantization.js';
import type { QdqDomain } from '../scheme/scheme.js';
import {
  addConstant,
  addDequantize,
  addQuantize,
  makeQdqEditor,
  outputOf,
  type Parameters,
  placeInOrder,
  putAfter,
  putBeforeFirst,
  type QdqEditor,
  scaleTensor,
  zeroPointTensor,
} from './qdq-editor.js';

/**
 * Edits `model`, for which `plan` was made, into its QDQ form. Inputs, outputs and their names stay; the graph output is the output of DequantizeLinear.
 * Names follow onnxruntime.quantization: X_scale, X_zero_point, X_QuantizeLinear_Output, X_DequantizeLinear_Output, W_quantized.
 *
 * @throws QuantError `opset-too-old` if the operators of the domain at the model's opset do not support what the plan needs.
 */
export function insertQdq(model: Model, plan: QuantizationPlan, domain: QdqDomain): void {
  checkOpset(model, plan, domain);
  if (domain !== 'ai.onnx' && !model.opsets.has(domain)) model.opsets.set(domain, 1);
  const editor = makeQdqEditor(model, domain === 'ai.onnx' ? '' : domain);
  removeActivations(model, plan);
  // Biases first: a constant that is also a weight elsewhere is replaced there afterwards.
  for (const bias of plan.biases) insertBias(editor, bias);
  // A value's insertion changes the uses of no other planned value, so that an index serves all values of a kind.
  const ofWeights = indexUses(model.graph);
  for (const weight of plan.weights) insertWeight(editor, weight, ofWeights, plan.scheme.placement.weights);
  const parameters = new Map<ValueId, Parameters>();
  const ofActivations = indexUses(model.graph);
  for (const activation of plan.activations) {
    const uses = ofActivations.get(activation.value) ?? [];
    insertActivation(editor, activation, { uses, known: parameters, pairs: plan.scheme.placement.pairs });
  }
  removeUnusedConstants(model, plan);
  placeInOrder(editor);
}

function checkOpset(model: Model, plan: QuantizationPlan, domain: QdqDomain): void {
  const opset = model.opsets.get('') ?? 0;
  const dtypes = [...plan.activations, ...plan.biases, ...plan.weights.map(weight => weight.qparams)].map(({ dtype }) => dtype);
  const wide = dtypes.some(dtype => dtype === 'int16' || dtype === 'uint16');
  const perChannel = plan.weights.some(({ qparams }) => qparams.axis !== undefined);
  const [needed, what] = domain !== 'ai.onnx' ? BASE : wide ? [21, '16-bit integers'] : perChannel ? [13, 'per-channel scales'] : BASE;
  if (opset >= needed) return;
  throw new QuantError('opset-too-old', `the model has opset ${opset}; ${what} in domain ai.onnx need opset ${needed}`, {
    help: needed === BASE[0] ? "upgrade the model's opset" : "set qdqDomain to 'com.microsoft', or upgrade the model's opset",
  });
}

/** For both domains: runtimes fuse Q and DQ into integer operators, which exist since opset 10. */
const BASE = [10, 'quantized operators'] as const;

/** The producer of `from` computes `to` directly; the Relu or Clip between them is removed. */
function removeActivations({ graph }: Model, plan: QuantizationPlan): void {
  for (const { node, from, to } of plan.removals) {
    removeNode(graph, node);
    const source = getValue(graph, from);
    const producer = getNode(graph, getDefined(source.producer, `producer of "${source.name}"`));
    producer.outputs[producer.outputs.indexOf(from)] = to;
    getValue(graph, to).producer = producer.id;
    removeValue(graph, from);
  }
}

type Uses = ReturnType<typeof indexUses>;

function insertWeight(editor: QdqEditor, { value: id, qparams, integers }: WeightPlan, uses: Uses, form: 'integers' | 'pair'): void {
  const { graph } = editor.model;
  const value = getValue(graph, id);
  const { name } = value;
  const { axis, dtype, slices } = qparams;
  const shape = axis === undefined ? 'scalar' : 'list';
  const users = [...new Set((uses.get(id) ?? []).map(use => use.node))];
  const quantized = form === 'integers' ? addConstant(editor, `${name}_quantized`, integers) : undefined;
  const scales = slices.map(({ scale }) => scale);
  const zeroPoints = slices.map(({ zeroPoint }) => zeroPoint);
  const parameters: Parameters = {
    scale: addConstant(editor, `${name}_scale`, scaleTensor(scales, shape)),
    zeroPoint: addConstant(editor, `${name}_zero_point`, zeroPointTensor(dtype, zeroPoints, shape)),
  };
  const q = quantized === undefined ? addQuantize(editor, name, id, parameters, dtype, axis) : undefined;
  const input = quantized ?? outputOf(getDefined(q, 'QuantizeLinear of a weight'));
  const dq = addDequantize(editor, name, { input, float: value, parameters, axis });
  const outputs = [...graph.outputs];
  replaceAllUses(graph, id, outputOf(dq));
  // A constant that is an output of the model stays as it is there.
  graph.outputs = outputs;
  // Only the Q of the pair reads the weight.
  if (q !== undefined) setInput(q, 0, id);
  putBeforeFirst(editor, users, ...(q === undefined ? [] : [q]), dq);
}

function insertBias(editor: QdqEditor, bias: BiasPlan): void {
  const { graph } = editor.model;
  const value = getValue(graph, bias.value);
  const { name } = value;
  const shape = bias.axis === undefined ? 'scalar' : 'list';
  const input = addConstant(editor, `${name}_quantized`, bias.integers);
  const zeros = bias.scales.map(() => 0);
  const parameters: Parameters = {
    scale: addConstant(editor, `${name}_quantized_scale`, scaleTensor(bias.scales, shape)),
    zeroPoint: addConstant(editor, `${name}_quantized_zero_point`, zeroPointTensor(bias.dtype, zeros, shape)),
  };
  const users = bias.nodes.map(node => getNode(graph, node));
  const dq = addDequantize(editor, name, { input, float: value, parameters, axis: bias.axis });
  for (const user of users) setInput(user, user.inputs.indexOf(bias.value), outputOf(dq));
  putBeforeFirst(editor, users, dq);
}

interface ActivationPlace {
  readonly uses: readonly Use[];
  /** Parameters by the value that owns them. */
  readonly known: Map<ValueId, Parameters>;
  readonly pairs: 'shared' | 'dedicated';
}

function insertActivation(editor: QdqEditor, plan: ActivationPlan, { uses, known, pairs }: ActivationPlace): void {
  const { model } = editor;
  const value = getValue(model.graph, plan.value);
  const { name, producer } = value;
  const isOutput = model.graph.outputs.includes(plan.value) && producer !== undefined;
  const owner = plan.sharedWith ?? plan.value;
  const parameters = known.get(owner) ?? addParameters(editor, name, plan);
  known.set(owner, parameters);
  if (isOutput) value.name = editor.names.take(`${name}_QuantizeLinear_Input`);
  const quantizers: Node[] = [];
  const addPair = (outputName?: string): ValueId => {
    const q = addQuantize(editor, name, plan.value, parameters, plan.dtype);
    const dq = addDequantize(editor, name, { input: outputOf(q), float: value, parameters, outputName });
    putAfter(editor, producer, q, dq);
    quantizers.push(q);
    return outputOf(dq);
  };
  const dedicated = pairs === 'dedicated' ? readersOf(uses) : [];
  for (const reader of dedicated) replaceInput(reader, plan.value, addPair());
  if (isOutput || dedicated.length === 0 || uses.some(({ index }) => index < 0)) {
    const { graph } = model;
    const outputs = [...graph.outputs];
    replaceAllUses(graph, plan.value, addPair(isOutput ? name : undefined));
    // A graph input that is also an output stays an output: only a value with a producer can give up its name.
    if (!isOutput) graph.outputs = outputs;
    for (const q of quantizers) setInput(q, 0, plan.value);
  }
}

/** The nodes that read a value as an input, each once. Readers inside sub-graphs share one pair. */
function readersOf(uses: readonly Use[]): readonly Node[] {
  return [...new Set(uses.filter(({ index }) => index >= 0).map(({ node }) => node))];
}

function replaceInput(reader: Node, from: ValueId, to: ValueId): void {
  for (const [index, input] of reader.inputs.entries()) if (input === from) setInput(reader, index, to);
}

function addParameters(editor: QdqEditor, name: string, { qparams, dtype }: ActivationPlan): Parameters {
  return {
    scale: addConstant(editor, `${name}_scale`, scaleTensor([qparams.scale], 'scalar')),
    zeroPoint: addConstant(editor, `${name}_zero_point`, zeroPointTensor(dtype, [qparams.zeroPoint], 'scalar')),
  };
}

/** Removes float constants without readers, except graph inputs with a default. */
function removeUnusedConstants({ graph }: Model, plan: QuantizationPlan): void {
  const uses = indexUses(graph);
  for (const { value } of [...plan.weights, ...plan.biases]) {
    if (!uses.has(value) && !graph.inputs.includes(value) && !graph.outputs.includes(value)) removeValue(graph, value);
  }
}
