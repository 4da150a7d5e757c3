/** Which tensors should be quantized, and whose parameters do they take? Collected node by node in graph order; parameters come later. */
import { getValue, indexUses, type Use } from '../onnx/ir/edit.js';
import type { Constant, Graph, Node, NodeId, ValueId } from '../onnx/ir/model.js';
import type { RawTensor } from '../tensor/tensor.js';
import type { Range } from './qparams.js';

/** A float32 constant in the role of a weight (int8 symmetric, say) or of an activation (a constant operand of Add). */
export interface WeightWish {
  readonly role: 'weight' | 'activation';
  readonly axis: number | undefined;
}

export interface BiasWish {
  readonly node: NodeId;
  readonly bias: ValueId;
  readonly input: ValueId;
  readonly weight: ValueId;
}

/** An activation function that saturation replaces: `from` is no longer computed, its producer gives `to`. */
export interface Removal {
  readonly node: NodeId;
  readonly from: ValueId;
  readonly to: ValueId;
}

export interface Draft {
  readonly graph: Graph;
  readonly uses: ReadonlyMap<ValueId, readonly Use[]>;
  /** Data ranges of float activations; the planner's adjustments are in here. */
  readonly ranges: ReadonlyMap<ValueId, Range>;
  /** Activation → the value whose parameters it takes; undefined: its own range. In graph order. */
  readonly activations: Map<ValueId, ValueId | undefined>;
  readonly weights: Map<ValueId, WeightWish>;
  readonly biases: Map<string, BiasWish>;
  readonly removals: Removal[];
}

export function makeDraft(graph: Graph, ranges: ReadonlyMap<ValueId, Range>): Draft {
  return { graph, uses: indexUses(graph), ranges, activations: new Map(), weights: new Map(), biases: new Map(), removals: [] };
}

/** The constant of `id` where it is float32. */
export function findFloatConstant(graph: Graph, id: ValueId | undefined): RawTensor | undefined {
  const constant: Constant | undefined = id === undefined ? undefined : graph.values.get(id)?.constant;
  return constant?.dtype === 'float32' ? constant : undefined;
}

export function isQuantized(draft: Draft, id: ValueId | undefined): boolean {
  return id !== undefined && (draft.activations.has(id) || draft.weights.has(id));
}

/** Quantizes a value by its own range, or a constant as an activation. Values that are not float32 stay as they are. */
export function wantActivation(draft: Draft, id: ValueId | undefined): void {
  if (id === undefined || isQuantized(draft, id)) return;
  if (getValue(draft.graph, id).constant !== undefined) {
    if (findFloatConstant(draft.graph, id) !== undefined) draft.weights.set(id, { role: 'activation', axis: undefined });
    return;
  }
  if (draft.ranges.has(id)) draft.activations.set(id, undefined);
}

/** Gives `id` the parameters of `provider`. */
export function wantShared(draft: Draft, id: ValueId | undefined, provider: ValueId | undefined): void {
  if (id === undefined || provider === undefined || !draft.ranges.has(id)) return;
  if (draft.activations.has(provider)) draft.activations.set(id, provider);
}

/** Quantizes a constant as a weight, per slice of `axis` where given; what is no constant, as an activation. */
export function wantWeight(draft: Draft, id: ValueId | undefined, axis: number | undefined): void {
  const isConstant = findFloatConstant(draft.graph, id) !== undefined;
  if (!isConstant) wantActivation(draft, id);
  else if (id !== undefined && !isQuantized(draft, id)) draft.weights.set(id, { role: 'weight', axis });
}

/** Quantizes a bias at input scale · weight scale. One bias may serve several nodes with other scales: each pair gets integers of its own. */
export function wantBias(draft: Draft, node: Node): void {
  const [input, weight, bias] = node.inputs;
  if (input === undefined || weight === undefined || bias === undefined) return;
  if (findFloatConstant(draft.graph, bias) === undefined || !draft.weights.has(weight) || !draft.activations.has(input)) return;
  draft.biases.set(`${node.id}`, { node: node.id, bias, input, weight });
}

/** Leaves out `node`, a Relu or Clip, where its input's producer can give its output, quantized to a range that saturates in its place. */
export function tryRemove(draft: Draft, node: Node): boolean {
  const [from] = node.inputs;
  const [to] = node.outputs;
  if (from === undefined || to === undefined || !draft.ranges.has(to) || draft.activations.get(from) !== undefined) return false;
  const { graph, uses } = draft;
  if ((uses.get(from)?.length ?? 0) !== 1 || graph.outputs.includes(from) || graph.inputs.includes(from)) return false;
  draft.activations.delete(from);
  draft.removals.push({ node: node.id, from, to });
  return true;
}
