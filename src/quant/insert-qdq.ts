/** How does a plan become a QDQ model? QuantizeLinear and DequantizeLinear around every planned activation, DequantizeLinear after every constant. */
import { getDefined } from '../base/invariant.js';
import { int } from '../onnx/ir/attribute.js';
import {
  addInitializer,
  addNode,
  addValue,
  getNode,
  getValue,
  indexUses,
  removeNode,
  removeValue,
  replaceAllUses,
  replaceNodeOrder,
  setInput,
} from '../onnx/ir/edit.js';
import type { Model, Node, NodeId, Value, ValueId } from '../onnx/ir/model.js';
import { encodeRawTensor } from '../tensor/raw-tensor.js';
import { makeTensor, type RawTensor } from '../tensor/tensor.js';
import type { ActivationPlan, BiasPlan, QuantizationPlan, WeightPlan } from './plan-quantization.js';
import { QuantError } from './quant-error.js';
import { makeQuantizedArray } from './quantize-linear.js';
import type { QuantizedDType } from './quantized-dtype.js';

/** The operator domain of Q and DQ. 'com.microsoft' has 16-bit integers and per-channel scales from opset 10 on; 'ai.onnx' is what other runtimes read. */
export type QdqDomain = 'ai.onnx' | 'com.microsoft';

/**
 * Edits `model`, the model that `plan` was made for, into its QDQ form. Inputs, outputs and their names stay; an output is what DequantizeLinear gives.
 * Tensors are named as onnxruntime.quantization names them: X_scale, X_zero_point, X_QuantizeLinear_Output, X_DequantizeLinear_Output, W_quantized.
 *
 * @throws QuantError `opset-too-old` where the domain's operators of the model's opset cannot say what the plan needs.
 */
export function insertQdq(model: Model, plan: QuantizationPlan, domain: QdqDomain): void {
  checkOpset(model, plan, domain);
  if (domain !== 'ai.onnx' && !model.opsets.has(domain)) model.opsets.set(domain, 1);
  const editor = makeEditor(model, domain);
  removeActivations(editor, plan);
  // Biases first: a constant that is a weight elsewhere is replaced there by what remains.
  for (const bias of plan.biases) insertBias(editor, bias);
  for (const weight of plan.weights) insertWeight(editor, weight);
  const parameters = new Map<ValueId, Parameters>();
  for (const activation of plan.activations) insertActivation(editor, activation, parameters);
  removeUnusedConstants(model, plan);
  placeInOrder(editor);
}

interface Editor {
  readonly model: Model;
  readonly domain: string;
  /** Names of values, and of nodes: each unique, or runtimes refuse the model. */
  readonly names: Set<string>;
  readonly nodeNames: Set<string>;
  /** Nodes to stand right before, and right after a node; `first` stands before all. */
  readonly before: Map<NodeId, Node[]>;
  readonly after: Map<NodeId, Node[]>;
  readonly first: Node[];
  readonly original: readonly Node[];
}

interface Parameters {
  readonly scale: ValueId;
  readonly zeroPoint: ValueId;
}

function makeEditor(model: Model, domain: QdqDomain): Editor {
  const names = new Set([...model.graph.values.values()].map(value => value.name));
  const original = [...model.graph.nodes.values()];
  const nodeNames = new Set(original.map(node => node.name));
  return { model, domain: domain === 'ai.onnx' ? '' : domain, names, nodeNames, before: new Map(), after: new Map(), first: [], original };
}

function checkOpset(model: Model, plan: QuantizationPlan, domain: QdqDomain): void {
  const opset = model.opsets.get('') ?? 0;
  const wide = plan.activations.some(({ dtype }) => isWide(dtype)) || plan.weights.some(({ qparams }) => isWide(qparams.dtype));
  const perChannel = plan.weights.some(({ qparams }) => qparams.axis !== undefined);
  const [needed, what] = domain !== 'ai.onnx' ? BASE : wide ? [21, '16-bit integers'] : perChannel ? [13, 'scales per channel'] : BASE;
  if (opset >= needed) return;
  throw new QuantError('opset-too-old', `the model has opset ${opset}; ${what} need ${needed}`, {
    help: needed === BASE[0] ? "upgrade the model's opset" : "set qdqDomain to 'com.microsoft', or upgrade the model's opset",
  });
}

/** Both domains: runtimes join Q and DQ into integer operators, which came with opset 10. */
const BASE = [10, 'quantized operators'] as const;

function isWide(dtype: QuantizedDType): boolean {
  return dtype === 'int16' || dtype === 'uint16';
}

/** The producer of `from` gives `to` itself; the Relu or Clip between them goes. */
function removeActivations({ model }: Editor, plan: QuantizationPlan): void {
  const { graph } = model;
  for (const { node, from, to } of plan.removals) {
    removeNode(graph, node);
    const source = getValue(graph, from);
    const producer = getNode(graph, getDefined(source.producer, `producer of "${source.name}"`));
    producer.outputs[producer.outputs.indexOf(from)] = to;
    getValue(graph, to).producer = producer.id;
    removeValue(graph, from);
  }
}

function insertWeight(editor: Editor, { value: id, qparams, integers }: WeightPlan): void {
  const { graph } = editor.model;
  const value = getValue(graph, id);
  const perTensor = qparams.axis === undefined;
  const quantized = initializer(editor, `${value.name}_quantized`, integers);
  const scale = initializer(
    editor,
    `${value.name}_scale`,
    scaleTensor(
      qparams.slices.map(slice => slice.scale),
      perTensor,
    ),
  );
  const zeroPoint = initializer(
    editor,
    `${value.name}_zero_point`,
    zeroPointTensor(
      qparams.dtype,
      qparams.slices.map(slice => slice.zeroPoint),
      perTensor,
    ),
  );
  const users = [...new Set((indexUses(graph).get(id) ?? []).map(use => use.node))];
  const node = dequantize(editor, value.name, value, [quantized, scale, zeroPoint], qparams.axis);
  replaceAllUses(graph, id, outputOf(node));
  putBeforeFirst(editor, node, users);
}

function insertBias(editor: Editor, bias: BiasPlan): void {
  const { graph } = editor.model;
  const value = getValue(graph, bias.value);
  const perTensor = bias.axis === undefined;
  const integers = initializer(editor, `${value.name}_quantized`, bias.integers);
  const scale = initializer(editor, `${value.name}_quantized_scale`, scaleTensor(bias.scales, perTensor));
  const zeros = encodeRawTensor(makeTensor('int32', perTensor ? [] : [bias.scales.length], new Int32Array(bias.scales.length)));
  const zeroPoint = initializer(editor, `${value.name}_quantized_zero_point`, zeros);
  const users = bias.nodes.map(node => getNode(graph, node));
  const node = dequantize(editor, value.name, value, [integers, scale, zeroPoint], bias.axis);
  for (const user of users) setInput(user, user.inputs.indexOf(bias.value), outputOf(node));
  putBeforeFirst(editor, node, users);
}

function insertActivation(editor: Editor, plan: ActivationPlan, parameters: Map<ValueId, Parameters>): void {
  const { model } = editor;
  const value = getValue(model.graph, plan.value);
  const { name } = value;
  const isOutput = model.graph.outputs.includes(plan.value) && value.producer !== undefined;
  const owner = plan.sharedWith ?? plan.value;
  const { scale, zeroPoint } = parameters.get(owner) ?? addParameters(editor, name, plan);
  parameters.set(owner, { scale, zeroPoint });
  const producer = value.producer;
  if (isOutput) value.name = fresh(editor, `${name}_QuantizeLinear_Input`);
  const type = value.type?.kind === 'tensor' ? { ...value.type, dtype: plan.dtype } : undefined;
  const quantized = addValue(model, model.graph, fresh(editor, `${name}_QuantizeLinear_Output`), { type });
  const dequantized = addValue(model, model.graph, isOutput ? name : fresh(editor, `${name}_DequantizeLinear_Output`), {
    type: value.type,
  });
  // A graph input that is an output too stays one: only what has a producer can give its name away.
  if (producer !== undefined || !model.graph.outputs.includes(plan.value)) {
    replaceAllUses(model.graph, plan.value, dequantized.id);
  }
  const q = addNode(model, model.graph, {
    opType: 'QuantizeLinear',
    name: freshIn(editor.nodeNames, `${name}_QuantizeLinear`),
    domain: editor.domain,
    inputs: [plan.value, scale, zeroPoint],
    outputs: [quantized.id],
  });
  const dq = addNode(model, model.graph, {
    opType: 'DequantizeLinear',
    name: freshIn(editor.nodeNames, `${name}_DequantizeLinear`),
    domain: editor.domain,
    inputs: [quantized.id, scale, zeroPoint],
    outputs: [dequantized.id],
  });
  if (producer === undefined) editor.first.push(q, dq);
  else append(editor.after, producer, q, dq);
}

function addParameters(editor: Editor, name: string, { qparams, dtype }: ActivationPlan): Parameters {
  return {
    scale: initializer(editor, `${name}_scale`, scaleTensor([qparams.scale], true)),
    zeroPoint: initializer(editor, `${name}_zero_point`, zeroPointTensor(dtype, [qparams.zeroPoint], true)),
  };
}

function dequantize(editor: Editor, name: string, value: Value, inputs: readonly ValueId[], axis: number | undefined): Node {
  const output = addValue(editor.model, editor.model.graph, fresh(editor, `${name}_DequantizeLinear_Output`), { type: value.type });
  return addNode(editor.model, editor.model.graph, {
    opType: 'DequantizeLinear',
    name: freshIn(editor.nodeNames, `${name}_DequantizeLinear`),
    domain: editor.domain,
    inputs,
    attributes: axis === undefined ? {} : { axis: int(axis) },
    outputs: [output.id],
  });
}

function outputOf(node: Node): ValueId {
  return getDefined(node.outputs[0], 'output of a new node');
}

function initializer(editor: Editor, name: string, tensor: RawTensor): ValueId {
  return addInitializer(editor.model, editor.model.graph, fresh(editor, name), tensor).id;
}

function fresh({ names }: Editor, wanted: string): string {
  return freshIn(names, wanted);
}

function freshIn(names: Set<string>, wanted: string): string {
  let name = wanted;
  for (let n = 1; names.has(name); n++) name = `${wanted}_${n}`;
  names.add(name);
  return name;
}

function scaleTensor(scales: readonly number[], scalar: boolean): RawTensor {
  return encodeRawTensor(makeTensor('float32', scalar ? [] : [scales.length], Float32Array.from(scales)));
}

function zeroPointTensor(dtype: QuantizedDType, zeroPoints: readonly number[], scalar: boolean): RawTensor {
  const data = makeQuantizedArray(dtype, zeroPoints.length);
  data.set(zeroPoints);
  return encodeRawTensor(makeTensor(dtype, scalar ? [] : [zeroPoints.length], data as never));
}

function putBeforeFirst(editor: Editor, node: Node, users: readonly Node[]): void {
  const ids = new Set(users.map(user => user.id));
  const user = editor.original.find(({ id }) => ids.has(id));
  if (user === undefined) editor.first.push(node);
  else append(editor.before, user.id, node);
}

function append(lists: Map<NodeId, Node[]>, key: NodeId, ...nodes: Node[]): void {
  lists.set(key, [...(lists.get(key) ?? []), ...nodes]);
}

function placeInOrder({ model, original, before, after, first }: Editor): void {
  const order = original.flatMap(node =>
    model.graph.nodes.has(node.id) ? [...(before.get(node.id) ?? []), node, ...(after.get(node.id) ?? [])] : (before.get(node.id) ?? []),
  );
  replaceNodeOrder(model.graph, [...first, ...order]);
}

/** Float constants that nothing reads any more; one that is a graph input with a default stays. */
function removeUnusedConstants({ graph }: Model, plan: QuantizationPlan): void {
  const uses = indexUses(graph);
  for (const { value } of [...plan.weights, ...plan.biases]) {
    if (!uses.has(value) && !graph.inputs.includes(value) && !graph.outputs.includes(value)) removeValue(graph, value);
  }
}
