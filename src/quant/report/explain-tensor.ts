/** Everything known about one tensor of a quantized model: from the model file and from the report of its quantization. */
import type { Graph, Node } from '../../onnx/ir/model.js';
import { findQdqTensor, listQdqTensors, type QdqTensor, type TensorNode } from '../qdq/qdq-tensors.js';
import type { ActivationEntry, BiasEntry, QuantizationReport, WeightEntry } from './report-entries.js';

export type TensorExplanation =
  | {
      readonly kind: 'quantized';
      readonly tensor: QdqTensor;
      readonly report: TensorEntry | undefined;
    }
  /** In the model, but not quantized. */
  | {
      readonly kind: 'float';
      readonly name: string;
      readonly producer: TensorNode | undefined;
      readonly consumers: readonly TensorNode[];
      readonly reasons: readonly string[];
    }
  | { readonly kind: 'unknown'; readonly names: readonly string[] };

export type TensorEntry =
  | { readonly role: 'activation'; readonly entry: ActivationEntry; readonly samples: number }
  | { readonly role: 'weight'; readonly entry: WeightEntry }
  | { readonly role: 'bias'; readonly entry: BiasEntry };

/** @param report the report of the quantization that produced `graph`, if available. */
export function explainTensor(graph: Graph, report: QuantizationReport | undefined, name: string): TensorExplanation {
  const tensors = listQdqTensors(graph);
  const tensor = findQdqTensor(tensors, name);
  if (tensor !== undefined) return { kind: 'quantized', tensor, report: report === undefined ? undefined : findEntry(report, tensor) };
  const joined = [...(report?.removed ?? []), ...(report?.fused ?? [])].find(({ input }) => input === name);
  const value = [...graph.values.values()].find(one => one.name === name);
  if (joined === undefined && value === undefined) {
    return { kind: 'unknown', names: [...tensors.map(one => one.name), ...floatNames(graph)] };
  }
  const producer = value?.producer === undefined ? undefined : graph.nodes.get(value.producer);
  const consumers = value === undefined ? [] : [...graph.nodes.values()].filter(node => node.inputs.includes(value.id));
  const nodes = [...(producer === undefined ? [] : [producer]), ...consumers];
  return {
    kind: 'float',
    name,
    producer: producer === undefined ? undefined : describe(producer),
    consumers: consumers.map(describe),
    reasons: joined === undefined ? reasonsOf(report, nodes) : [`${joined.opType} "${joined.node}" is fused with the operator before it`],
  };
}

/** Names of values that Q and DQ neither read nor write. The others belong to listed tensors or their parameters. */
function floatNames(graph: Graph): readonly string[] {
  const linear = [...graph.nodes.values()].filter(({ opType }) => opType === 'QuantizeLinear' || opType === 'DequantizeLinear');
  const taken = new Set(linear.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]));
  return [...graph.values.values()].filter(({ id }) => !taken.has(id)).map(({ name }) => name);
}

function describe({ name, opType }: Node): TensorNode {
  return { node: name, opType };
}

function reasonsOf(report: QuantizationReport | undefined, nodes: readonly Node[]): readonly string[] {
  const names = new Set(nodes.map(node => node.name).filter(Boolean));
  return (report?.inFloat ?? []).filter(({ node }) => names.has(node)).map(({ node, opType, reason }) => `${opType} "${node}": ${reason}`);
}

function findEntry(report: QuantizationReport, { name, role, scales }: QdqTensor): TensorEntry | undefined {
  if (role === 'activation') {
    const entry = report.activations.find(one => one.name === name);
    return entry === undefined ? undefined : { role: 'activation', entry, samples: report.samples };
  }
  const weight = report.weights.find(one => one.name === name);
  if (weight !== undefined) return { role: 'weight', entry: weight };
  const biases = report.biases.filter(one => one.name === name);
  const bias = biases.find(one => one.scale.every((scale, i) => scale === scales[i])) ?? biases[0];
  return bias === undefined ? undefined : { role: 'bias', entry: bias };
}
