/** Node units, the smallest groups that are placed on a device: an operator with its DequantizeLinear and QuantizeLinear nodes, as ONNX Runtime groups them. */
import { getNode } from '../../onnx/ir/edit.js';
import type { Model, Node, NodeId, ValueId } from '../../onnx/ir/model.js';
import { valuesReadBy } from '../../onnx/ir/reads.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import type { UnitKind } from '../report/compile-report.js';
import { DEQUANTIZE, QUANTIZE } from './prepare-model.js';

export interface NodeUnit {
  /** Position in topological order. */
  readonly id: number;
  readonly kind: UnitKind;
  /** The computing node; for a separate Q or DQ, the node itself; for DQ → Q, the DQ. */
  readonly target: Node;
  /** Fused with the target: an activation function between it and its Q, or a constant factor after an average. */
  readonly activation: Node | undefined;
  /** The DQ at each input position of the target. */
  readonly dequantizers: ReadonlyMap<number, Node>;
  /** Q nodes after the target (or its activation), in output order. */
  readonly quantizers: readonly Node[];
  /** All nodes of the unit, in graph order. */
  readonly nodes: readonly Node[];
}

export interface UnitGraph {
  readonly model: Model;
  readonly units: readonly NodeUnit[];
  readonly unitOf: ReadonlyMap<NodeId, number>;
  /** The producers and the readers of each unit: sorted, without duplicates. */
  readonly before: readonly (readonly number[])[];
  readonly after: readonly (readonly number[])[];
}

/** Activation functions that are fused with the operator before them. */
export const ACTIVATIONS: readonly string[] = ['Relu', 'Clip', 'LeakyRelu', 'PRelu', 'HardSigmoid', 'HardSwish', 'Sigmoid', 'Tanh', 'Elu'];

/** Groups a prepared model into units. Every node is in exactly one unit; the units form no cycle. */
export function findNodeUnits(model: Model): UnitGraph {
  const graphIndex = indexGraph(model);
  const groups = new Map<NodeId, Group>();
  for (const node of model.graph.nodes.values()) {
    const group = findQuantizedGroup(graphIndex, node) ?? findRequantizeGroup(graphIndex, node);
    if (group !== undefined) for (const member of group.members) groups.set(member.id, group);
  }
  const unitOf = new Map<NodeId, number>();
  const units: NodeUnit[] = [];
  for (const { members, ...group } of sortGroups(graphIndex, groups)) {
    for (const node of members) unitOf.set(node.id, units.length);
    units.push({ id: units.length, ...group, nodes: [...members].sort((a, b) => graphIndex.position(a) - graphIndex.position(b)) });
  }
  return { model, units, unitOf, ...connect(model, units, unitOf) };
}

type Group = Omit<NodeUnit, 'id' | 'nodes'> & { readonly members: readonly Node[] };

interface GraphIndex {
  readonly model: Model;
  readonly readers: ReadonlyMap<ValueId, readonly Node[]>;
  position(node: Node): number;
  isOutput(value: ValueId): boolean;
}

function indexGraph(model: Model): GraphIndex {
  const readers = new Map<ValueId, Node[]>();
  const positions = new Map<NodeId, number>();
  for (const node of model.graph.nodes.values()) {
    positions.set(node.id, positions.size);
    for (const id of new Set(valuesReadBy(node))) {
      const list = readers.get(id);
      if (list === undefined) readers.set(id, [node]);
      else list.push(node);
    }
  }
  const outputs = new Set(model.graph.outputs);
  return { model, readers, position: node => positions.get(node.id) ?? -1, isOutput: value => outputs.has(value) };
}

/** The unit around `node` if all its activation inputs come from DQ and all its results go to Q. */
function findQuantizedGroup(graphIndex: GraphIndex, node: Node): Group | undefined {
  if (node.opType === QUANTIZE || node.opType === DEQUANTIZE) return undefined;
  const dequantizers = new Map<number, Node>();
  const constants: Node[] = [];
  for (const [index, input] of node.inputs.entries()) {
    if (input === undefined || findConstantValue(graphIndex.model, input) !== undefined) continue;
    const producer = producerOf(graphIndex, input);
    if (producer?.opType !== DEQUANTIZE || !isOwn(graphIndex, producer)) return undefined;
    dequantizers.set(index, producer);
    const source = producerOf(graphIndex, producer.inputs[0]);
    if (source?.opType === QUANTIZE && isOwn(graphIndex, source) && findConstantValue(graphIndex.model, source.inputs[0]) !== undefined)
      constants.push(source);
  }
  if (dequantizers.size === 0) return undefined;
  const end = findEnd(graphIndex, node);
  if (end === undefined) return undefined;
  const members = [...constants, ...new Set(dequantizers.values()), node, ...(end.activation ? [end.activation] : []), ...end.quantizers];
  return { kind: 'quantized', target: node, activation: end.activation, dequantizers, quantizers: end.quantizers, members };
}

/** DQ → Q without a node between them: the same values with other parameters. */
function findRequantizeGroup(graphIndex: GraphIndex, node: Node): Group | undefined {
  if (node.opType !== DEQUANTIZE) return undefined;
  const quantizers = findQuantizers(graphIndex, node);
  if (quantizers === undefined) return undefined;
  return { kind: 'requantize', target: node, activation: undefined, dequantizers: new Map(), quantizers, members: [node, ...quantizers] };
}

function findEnd(graphIndex: GraphIndex, node: Node): { activation: Node | undefined; quantizers: readonly Node[] } | undefined {
  const direct = findQuantizers(graphIndex, node);
  if (direct !== undefined) return { activation: undefined, quantizers: direct };
  const [output] = node.outputs;
  if (output === undefined || node.outputs.length !== 1 || graphIndex.isOutput(output)) return undefined;
  const readers = graphIndex.readers.get(output) ?? [];
  const [activation] = readers;
  if (activation === undefined || readers.length !== 1 || !isFused(node, activation)) return undefined;
  if (activation.inputs.slice(1).some(input => input !== undefined && findConstantValue(graphIndex.model, input) === undefined))
    return undefined;
  const quantizers = findQuantizers(graphIndex, activation);
  return quantizers === undefined ? undefined : { activation, quantizers };
}

/** AMD's quantizer multiplies an average by a constant that corrects the NPU's own division. */
const AVERAGES = ['AveragePool', 'GlobalAveragePool', 'ReduceMean'];

function isFused(node: Node, next: Node): boolean {
  return ACTIVATIONS.includes(next.opType) || (next.opType === 'Mul' && AVERAGES.includes(node.opType));
}

/** The Q nodes that read all results of `node`; undefined if another node reads one, or none does. */
function findQuantizers({ readers, isOutput }: GraphIndex, node: Node): readonly Node[] | undefined {
  const found: Node[] = [];
  for (const output of node.outputs) {
    if (output === undefined) continue;
    const reading = readers.get(output) ?? [];
    if (isOutput(output) || reading.length === 0) return undefined;
    if (reading.some(reader => reader.opType !== QUANTIZE || reader.inputs[0] !== output)) return undefined;
    found.push(...reading);
  }
  return found.length === 0 ? undefined : found;
}

function isOwn({ readers, isOutput }: GraphIndex, node: Node): boolean {
  const [output] = node.outputs;
  return output !== undefined && !isOutput(output) && readers.get(output)?.length === 1;
}

function producerOf({ model: { graph } }: GraphIndex, value: ValueId | undefined): Node | undefined {
  const producer = value === undefined ? undefined : graph.values.get(value)?.producer;
  return producer === undefined ? undefined : graph.nodes.get(producer);
}

function alone(node: Node): Group {
  const kind = node.opType === QUANTIZE ? 'quantize' : node.opType === DEQUANTIZE ? 'dequantize' : 'plain';
  return { kind, target: node, activation: undefined, dequantizers: new Map(), quantizers: [], members: [node] };
}

/** Topological order of units; among candidates, the graph order of their last nodes. */
function sortGroups(graphIndex: GraphIndex, grouped: ReadonlyMap<NodeId, Group>): readonly Group[] {
  const groups = new Map([...graphIndex.model.graph.nodes.values()].map(node => [node.id, grouped.get(node.id) ?? alone(node)] as const));
  const byLastNode = new Set<Group>();
  for (const group of groups.values()) {
    byLastNode.delete(group);
    byLastNode.add(group);
  }
  const needs = function* (group: Group): Generator<Group> {
    for (const node of group.members) {
      for (const id of valuesReadBy(node)) {
        const producer = producerOf(graphIndex, id);
        const needed = producer === undefined ? undefined : groups.get(producer.id);
        if (needed !== undefined && needed !== group && !sorted.has(needed)) yield needed;
      }
    }
  };
  const sorted = new Set<Group>();
  for (const last of byLastNode) {
    const path = [last];
    for (let group = path.at(-1); group !== undefined; group = path.at(-1)) {
      const next = sorted.has(group) ? undefined : needs(group).next().value;
      if (next !== undefined) {
        path.push(next);
        continue;
      }
      sorted.add(group);
      path.pop();
    }
  }
  return [...sorted];
}

function connect(
  model: Model,
  units: readonly NodeUnit[],
  unitOf: ReadonlyMap<NodeId, number>,
): { before: readonly (readonly number[])[]; after: readonly (readonly number[])[] } {
  const before = units.map(() => new Set<number>());
  const after = units.map(() => new Set<number>());
  for (const node of model.graph.nodes.values()) {
    const reader = unitOf.get(node.id) ?? -1;
    for (const id of valuesReadBy(node)) {
      const producer = model.graph.values.get(id)?.producer;
      const writer = producer === undefined ? reader : (unitOf.get(getNode(model.graph, producer).id) ?? -1);
      if (writer === reader) continue;
      before[reader]?.add(writer);
      after[writer]?.add(reader);
    }
  }
  const sorted = (sets: readonly Set<number>[]): readonly (readonly number[])[] => sets.map(set => [...set].sort((a, b) => a - b));
  return { before: sorted(before), after: sorted(after) };
}
