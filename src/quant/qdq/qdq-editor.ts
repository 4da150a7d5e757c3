/** Adds Q and DQ nodes to a graph with unique names. New nodes are collected and put in topological order at the end. */
import { getDefined } from '../../base/invariant.js';
import { int } from '../../onnx/ir/attribute.js';
import { addInitializer, addNode, addValue, getNode, getValue, replaceNodeOrder } from '../../onnx/ir/edit.js';
import type { Attribute, Model, Node, NodeId, Value, ValueId } from '../../onnx/ir/model.js';
import { makeNameScope, type NameScope } from '../../onnx/ir/name-scope.js';
import { encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor, type RawTensor } from '../../tensor/tensor.js';
import { makeQuantizedArray } from '../integers/quantize-linear.js';
import type { QuantizedDType } from '../integers/quantized-dtype.js';

export interface QdqEditor {
  readonly model: Model;
  /** '' or the contrib domain. */
  readonly domain: string;
  readonly names: NameScope;
  /** Node names in use. Runtimes refuse models with duplicate names. */
  readonly nodeNames: Set<string>;
  /** New nodes to put right before or right after a node; `first` come before all nodes. */
  readonly before: Map<NodeId, Node[]>;
  readonly after: Map<NodeId, Node[]>;
  readonly first: Node[];
  readonly original: readonly Node[];
}

/** Scale and zero point as initializers. */
export interface Parameters {
  readonly scale: ValueId;
  readonly zeroPoint: ValueId;
}

export function makeQdqEditor(model: Model, domain: string): QdqEditor {
  const original = [...model.graph.nodes.values()];
  const nodeNames = new Set(original.map(node => node.name));
  return { model, domain, names: makeNameScope(model.graph), nodeNames, before: new Map(), after: new Map(), first: [], original };
}

/** Adds QuantizeLinear of `input`; `type` is the type of its output. */
export function addQuantize(
  editor: QdqEditor,
  name: string,
  input: ValueId,
  parameters: Parameters,
  dtype: QuantizedDType,
  axis?: number,
): Node {
  const { model } = editor;
  const { type } = getValue(model.graph, input);
  const output = addValue(model, model.graph, editor.names.take(`${name}_QuantizeLinear_Output`), {
    type: type?.kind === 'tensor' ? { ...type, dtype } : undefined,
  });
  return addLinear(editor, 'QuantizeLinear', name, { input, parameters, axis, output });
}

/** Adds DequantizeLinear of `input`. Its output has the type of `float` and the name `outputName`, or a free name. */
export function addDequantize(editor: QdqEditor, name: string, { input, float, parameters, axis, outputName }: DequantizeSpec): Node {
  const { model } = editor;
  const output = addValue(model, model.graph, outputName ?? editor.names.take(`${name}_DequantizeLinear_Output`), { type: float.type });
  return addLinear(editor, 'DequantizeLinear', name, { input, parameters, axis, output });
}

function addLinear(
  editor: QdqEditor,
  opType: 'QuantizeLinear' | 'DequantizeLinear',
  name: string,
  { input, parameters, axis, output }: Pick<DequantizeSpec, 'input' | 'parameters' | 'axis'> & { readonly output: Value },
): Node {
  const { model, domain } = editor;
  return addNode(model, model.graph, {
    opType,
    name: takeNodeName(editor, `${name}_${opType}`),
    domain,
    inputs: [input, parameters.scale, parameters.zeroPoint],
    attributes: attributesOf(axis),
    outputs: [output.id],
  });
}

export interface DequantizeSpec {
  readonly input: ValueId;
  readonly float: Value;
  readonly parameters: Parameters;
  readonly axis?: number | undefined;
  readonly outputName?: string | undefined;
}

function attributesOf(axis: number | undefined): Readonly<Record<string, Attribute>> {
  return axis === undefined ? {} : { axis: int(axis) };
}

export function outputOf(node: Node): ValueId {
  return getDefined(node.outputs[0], 'output of a new node');
}

export function addConstant({ model, names }: QdqEditor, name: string, tensor: RawTensor): ValueId {
  return addInitializer(model, model.graph, names.take(name), tensor).id;
}

function takeNodeName({ nodeNames }: QdqEditor, wanted: string): string {
  let name = wanted;
  for (let n = 1; nodeNames.has(name); n++) name = `${wanted}_${n}`;
  nodeNames.add(name);
  return name;
}

/** @param form 'scalar' for one scale of a whole tensor. */
export function scaleTensor(scales: readonly number[], form: 'scalar' | 'list'): RawTensor {
  return encodeRawTensor(makeTensor('float32', form === 'scalar' ? [] : [scales.length], Float32Array.from(scales)));
}

export function zeroPointTensor(dtype: QuantizedDType | 'int32', zeroPoints: readonly number[], form: 'scalar' | 'list'): RawTensor {
  const data = dtype === 'int32' ? new Int32Array(zeroPoints.length) : makeQuantizedArray(dtype, zeroPoints.length);
  data.set(zeroPoints);
  return encodeRawTensor(makeTensor(dtype, form === 'scalar' ? [] : [zeroPoints.length], data as never));
}

/** Puts nodes before the first of `users`, in the order of the original graph. */
export function putBeforeFirst(editor: QdqEditor, users: readonly Node[], ...nodes: Node[]): void {
  const ids = new Set(users.map(user => user.id));
  const user = editor.original.find(({ id }) => ids.has(id));
  if (user === undefined) editor.first.push(...nodes);
  else append(editor.before, user.id, nodes);
}

/** Puts nodes right after `producer`; before all nodes if the value has none. */
export function putAfter(editor: QdqEditor, producer: NodeId | undefined, ...nodes: Node[]): void {
  if (producer === undefined) editor.first.push(...nodes);
  else append(editor.after, producer, nodes);
}

function append(lists: Map<NodeId, Node[]>, key: NodeId, nodes: readonly Node[]): void {
  lists.set(key, [...(lists.get(key) ?? []), ...nodes]);
}

export function placeInOrder({ model, original, before, after, first }: QdqEditor): void {
  const order = original.flatMap(({ id }) =>
    model.graph.nodes.has(id) ? [...(before.get(id) ?? []), getNode(model.graph, id), ...(after.get(id) ?? [])] : (before.get(id) ?? []),
  );
  replaceNodeOrder(model.graph, [...first, ...order]);
}
