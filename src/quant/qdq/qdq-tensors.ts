/** Lists the quantized tensors of any QDQ model with their parameters, from its nodes alone. */
import { getDefined } from '../../base/invariant.js';
import { getInt } from '../../onnx/ir/attribute.js';
import { indexUses, type Use } from '../../onnx/ir/edit.js';
import type { Graph, Node, Value, ValueId } from '../../onnx/ir/model.js';
import { decodeRawTensor } from '../../tensor/raw-tensor.js';

export interface QdqTensor {
  /** The name in the float model if Q and DQ follow the naming of `quantize`; otherwise the name closest to the float value. */
  readonly name: string;
  /** Other names in the model: before Q, between Q and DQ, after DQ. */
  readonly aliases: readonly string[];
  readonly role: 'activation' | 'constant';
  /** The integer type; undefined if the model does not declare it. */
  readonly dtype: string | undefined;
  /** Empty if they are computed. */
  readonly scales: readonly number[];
  readonly zeroPoints: readonly number[];
  /** The axis of per-channel scales. */
  readonly axis: number | undefined;
  /** Undefined for inputs and constants. */
  readonly producer: TensorNode | undefined;
  /** Nodes that read the dequantized value. */
  readonly consumers: readonly TensorNode[];
  readonly isInput: boolean;
  readonly isOutput: boolean;
}

export interface TensorNode {
  readonly node: string;
  readonly opType: string;
}

const BEFORE = '_QuantizeLinear_Input';
const AFTER = '_DequantizeLinear_Output';
const INTEGERS = '_quantized';

/** In graph order of the Q nodes, or of the DQ nodes for constants. */
export function listQdqTensors(graph: Graph): readonly QdqTensor[] {
  const uses = indexUses(graph);
  const tensors: QdqTensor[] = [];
  for (const node of graph.nodes.values()) {
    if (node.opType === 'QuantizeLinear') tensors.push(readQuantized(graph, uses, node));
    else if (node.opType === 'DequantizeLinear') {
      const source = valueAt(graph, node.inputs[0]);
      if (source?.constant !== undefined) tensors.push(readConstant(graph, uses, node, source));
    }
  }
  return mergePairs(tensors);
}

/** Several Q and DQ pairs of one value are one tensor. */
function mergePairs(tensors: readonly QdqTensor[]): readonly QdqTensor[] {
  const merged = new Map<string, QdqTensor>();
  for (const tensor of tensors) {
    const same = merged.get(tensor.name);
    const joined =
      same === undefined
        ? tensor
        : { ...same, aliases: [...same.aliases, ...tensor.aliases], consumers: [...same.consumers, ...tensor.consumers] };
    merged.set(tensor.name, { ...joined, isOutput: joined.isOutput || tensor.isOutput });
  }
  return [...merged.values()];
}

function readQuantized(graph: Graph, uses: ReadonlyMap<ValueId, readonly Use[]>, q: Node): QdqTensor {
  const source = getDefined(valueAt(graph, q.inputs[0]), 'input of QuantizeLinear');
  const between = valueAt(graph, q.outputs[0]);
  const dequantizers = between === undefined ? [] : readersOf(uses, between.id).filter(({ opType }) => opType === 'DequantizeLinear');
  const after = dequantizers.flatMap(dq => valueAt(graph, dq.outputs[0]) ?? []);
  const name = outputName(graph, source, after) ?? source.name;
  return {
    name,
    aliases: aliasesOf(name, source, between, ...after),
    role: source.constant === undefined ? 'activation' : 'constant',
    ...parametersOf(graph, q),
    producer: describe(source.producer === undefined ? undefined : graph.nodes.get(source.producer)),
    consumers: after.flatMap(value => readersOf(uses, value.id)).map(node => getDefined(describe(node), 'node')),
    isInput: graph.inputs.includes(source.id) && source.constant === undefined,
    isOutput: after.some(({ id }) => graph.outputs.includes(id)),
  };
}

function readConstant(graph: Graph, uses: ReadonlyMap<ValueId, readonly Use[]>, dq: Node, source: Value): QdqTensor {
  const after = valueAt(graph, dq.outputs[0]);
  const stem = withoutSuffix(source.name, INTEGERS);
  const name = stem !== undefined && withoutSuffix(withoutCount(after?.name ?? ''), AFTER) === stem ? stem : source.name;
  return {
    name,
    aliases: aliasesOf(name, source, after),
    role: 'constant',
    ...parametersOf(graph, dq),
    producer: undefined,
    consumers: after === undefined ? [] : readersOf(uses, after.id).map(node => getDefined(describe(node), 'node')),
    isInput: false,
    isOutput: after !== undefined && graph.outputs.includes(after.id),
  };
}

/** The name of a graph output, which the value after DQ takes over. A suffix is removed only where it was added by `quantize`. */
function outputName(graph: Graph, source: Value, after: readonly Value[]): string | undefined {
  const renamed = [source.name, withoutCount(source.name)];
  return after.find(({ id, name }) => graph.outputs.includes(id) && renamed.includes(`${name}${BEFORE}`))?.name;
}

function withoutSuffix(name: string, suffix: string): string | undefined {
  return name.endsWith(suffix) && name.length > suffix.length ? name.slice(0, -suffix.length) : undefined;
}

/** Removes the suffix "_1" that made a name unique. */
function withoutCount(name: string): string {
  return name.replace(/_\d+$/, '');
}

function aliasesOf(name: string, ...values: readonly (Value | undefined)[]): readonly string[] {
  return [...new Set(values.flatMap(value => value?.name ?? []))].filter(alias => alias !== name);
}

function parametersOf(graph: Graph, node: Node): Pick<QdqTensor, 'dtype' | 'scales' | 'zeroPoints' | 'axis'> {
  const [, scale, zeroPoint] = node.inputs.map(id => valueAt(graph, id));
  const scales = numbersOf(scale);
  const dtype = zeroPoint?.constant?.dtype ?? typeOf(valueAt(graph, node.opType === 'QuantizeLinear' ? node.outputs[0] : node.inputs[0]));
  return {
    dtype,
    scales,
    zeroPoints: zeroPoint === undefined ? scales.map(() => 0) : numbersOf(zeroPoint),
    axis: scales.length > 1 ? getInt(node, 'axis', 1) : undefined,
  };
}

function typeOf(value: Value | undefined): string | undefined {
  return value?.type?.kind === 'tensor' ? value.type.dtype : value?.constant?.dtype;
}

function numbersOf(value: Value | undefined): readonly number[] {
  const constant = value?.constant;
  if (constant === undefined || !('bytes' in constant)) return [];
  return Array.from(decodeRawTensor(constant).data as ArrayLike<number | bigint>, Number);
}

function readersOf(uses: ReadonlyMap<ValueId, readonly Use[]>, id: ValueId): readonly Node[] {
  return [...new Set((uses.get(id) ?? []).map(({ node }) => node))];
}

function describe(node: Node | undefined): TensorNode | undefined {
  return node === undefined ? undefined : { node: node.name, opType: node.opType };
}

function valueAt(graph: Graph, id: ValueId | undefined): Value | undefined {
  return id === undefined ? undefined : graph.values.get(id);
}

/** The tensor with the name or alias `name`. */
export function findQdqTensor(tensors: readonly QdqTensor[], name: string): QdqTensor | undefined {
  return tensors.find(tensor => tensor.name === name) ?? tensors.find(tensor => tensor.aliases.includes(name));
}
