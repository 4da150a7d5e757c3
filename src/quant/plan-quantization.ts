/** Which tensors of a model are quantized, with which parameters, and which nodes stay in float and why? Decided without touching the model. */
import { getDefined } from '../base/invariant.js';
import { getNode, getValue } from '../onnx/ir/edit.js';
import type { Graph, Node, NodeId, ValueId } from '../onnx/ir/model.js';
import type { RawTensor } from '../tensor/tensor.js';
import { type BiasWish, type Draft, findFloatConstant, makeDraft, type Removal } from './draft.js';
import { placementOf } from './placement.js';
import { computeQParams, type QParams, type Range, type TensorQParams } from './qparams.js';
import { QuantError } from './quant-error.js';
import type { IntegerScheme, QuantizedDType } from './quantized-dtype.js';
import type { QuantizationScheme } from './scheme.js';
import { computeWeightQParams, type QuantizedBias, quantizeBias, quantizeWeight, widenForBias } from './weights.js';

export interface ActivationPlan {
  readonly value: ValueId;
  /** What the parameters cover before zero is added and symmetry made; the provider's where `sharedWith` is set. */
  readonly range: Range;
  readonly dtype: QuantizedDType;
  readonly qparams: QParams;
  /** The value whose parameters these are. */
  readonly sharedWith: ValueId | undefined;
}

export interface WeightPlan {
  readonly value: ValueId;
  readonly role: 'weight' | 'activation';
  readonly qparams: TensorQParams;
  readonly integers: RawTensor;
  readonly sqnrDb: number;
  /** Its scale was widened so that a bias fits into int32. */
  readonly widened: boolean;
}

export interface BiasPlan extends QuantizedBias {
  readonly value: ValueId;
  /** The nodes that read these integers. */
  readonly nodes: readonly NodeId[];
  readonly axis: number | undefined;
}

export interface QuantizationPlan {
  /** In graph order. */
  readonly activations: readonly ActivationPlan[];
  readonly weights: readonly WeightPlan[];
  readonly biases: readonly BiasPlan[];
  readonly removals: readonly Removal[];
  /** Nodes that stay in float, with the reason, in graph order. */
  readonly kept: ReadonlyMap<NodeId, string>;
}

export interface PlanRequest {
  readonly scheme: QuantizationScheme;
  /** The data range of each float32 activation. */
  readonly ranges: ReadonlyMap<ValueId, Range>;
  readonly excluded: ReadonlySet<NodeId>;
}

/**
 * Plans the quantization of `graph`, whose nodes are in topological order. Nothing is changed.
 * @throws QuantError `nothing-to-quantize` where no node is left to quantize; `bad-range` where a weight is not finite.
 */
export function planQuantization(graph: Graph, request: PlanRequest): QuantizationPlan {
  const kept = new Map<NodeId, string>();
  const chosen = [...graph.nodes.values()].filter(node => {
    const reason = reasonToSkip(node, request);
    if (reason !== undefined) kept.set(node.id, reason);
    return reason === undefined;
  });
  const draft = makeDraft(graph, adjustRanges(graph, chosen, request.ranges));
  for (const node of chosen) {
    const reason = placementOf(node.opType)(node, draft, request.scheme);
    if (reason !== undefined) kept.set(node.id, reason);
  }
  if (draft.activations.size === 0) throw nothingToQuantize(kept, graph);
  const activations = planActivations(draft, request.scheme);
  const weights = planWeights(draft, activations, request.scheme);
  return {
    activations: [...activations.values()],
    weights: [...weights.values()],
    biases: planBiases(draft, activations, weights),
    removals: draft.removals,
    kept,
  };
}

function reasonToSkip(node: Node, { scheme, excluded }: PlanRequest): string | undefined {
  if (excluded.has(node.id)) return 'excluded';
  if (node.domain !== '') return `its domain is ${node.domain}`;
  return scheme.opTypes.includes(node.opType) ? undefined : `${node.opType} is not among the operators to quantize`;
}

/**
 * The range of what feeds a Relu or Clip alone is that of its output: what is cut off needs no integers. Softmax gives 0 … 1 whatever was seen.
 * Both as onnxruntime.quantization does, one node after the other.
 */
function adjustRanges(graph: Graph, nodes: readonly Node[], seen: ReadonlyMap<ValueId, Range>): ReadonlyMap<ValueId, Range> {
  const ranges = new Map(seen);
  const { uses } = makeDraft(graph, seen);
  for (const { opType, inputs, outputs } of nodes) {
    const [from, to] = [inputs[0], outputs[0]];
    if (from === undefined || to === undefined) continue;
    const output = ranges.get(to);
    if (output === undefined) continue;
    if ((opType === 'Relu' || opType === 'Clip') && uses.get(from)?.length === 1 && ranges.has(from)) ranges.set(from, output);
    if (opType === 'Softmax') ranges.set(to, { low: 0, high: 1 });
  }
  return ranges;
}

function planActivations(draft: Draft, scheme: QuantizationScheme): Map<ValueId, ActivationPlan> {
  const integers: IntegerScheme = { ...scheme.activation, reduceRange: false };
  const plans = new Map<ValueId, ActivationPlan>();
  for (const [value, provider] of draft.activations) {
    if (provider !== undefined) {
      // A provider is produced before what it is shared with, so its plan exists.
      const { range, qparams, sharedWith } = getDefined(plans.get(provider), 'provider of shared parameters');
      plans.set(value, { value, range, dtype: integers.dtype, qparams, sharedWith: sharedWith ?? provider });
      continue;
    }
    const range = getDefined(draft.ranges.get(value), 'range');
    plans.set(value, { value, range, dtype: integers.dtype, qparams: computeQParams(range, integers), sharedWith: undefined });
  }
  return plans;
}

function planWeights(
  draft: Draft,
  activations: ReadonlyMap<ValueId, ActivationPlan>,
  scheme: QuantizationScheme,
): Map<ValueId, WeightPlan> {
  const forActivations: IntegerScheme = { ...scheme.activation, reduceRange: scheme.weight.reduceRange };
  const parameters = new Map<ValueId, TensorQParams>();
  for (const [value, { role, axis }] of draft.weights) {
    const integers = role === 'weight' ? scheme.weight : forActivations;
    parameters.set(value, computeWeightQParams(constantOf(draft.graph, value), integers, axis, getValue(draft.graph, value).name));
  }
  const original = new Map(parameters);
  for (const { bias, input, weight } of draft.biases.values()) {
    const inputScale = getDefined(activations.get(input), 'input of a bias').qparams.scale;
    parameters.set(weight, widenForBias(getDefined(parameters.get(weight), 'weight'), constantOf(draft.graph, bias), inputScale));
  }
  return new Map(
    [...draft.weights].map(([value, { role }]) => {
      const qparams = getDefined(parameters.get(value), 'weight');
      const quantized = quantizeWeight(constantOf(draft.graph, value), qparams);
      return [value, { value, role, qparams, ...quantized, widened: !sameScales(qparams, getDefined(original.get(value), 'weight')) }];
    }),
  );
}

function sameScales(a: TensorQParams, b: TensorQParams): boolean {
  return a.slices.every((slice, i) => slice.scale === b.slices[i]?.scale);
}

/** One plan per bias and scales: several nodes share it where both are the same. */
function planBiases(
  draft: Draft,
  activations: ReadonlyMap<ValueId, ActivationPlan>,
  weights: ReadonlyMap<ValueId, WeightPlan>,
): BiasPlan[] {
  const plans = new Map<string, BiasPlan>();
  for (const wish of draft.biases.values()) {
    const plan = planBias(draft.graph, wish, activations, weights);
    if (plan === undefined) continue;
    const key = `${plan.value} ${plan.scales.join(' ')}`;
    const earlier = plans.get(key);
    plans.set(key, earlier === undefined ? plan : { ...earlier, nodes: [...earlier.nodes, wish.node] });
  }
  return [...plans.values()];
}

function planBias(
  graph: Graph,
  { node, bias, input, weight }: BiasWish,
  activations: ReadonlyMap<ValueId, ActivationPlan>,
  weights: ReadonlyMap<ValueId, WeightPlan>,
): BiasPlan | undefined {
  const constant = constantOf(graph, bias);
  const inputScale = getDefined(activations.get(input), 'input of a bias').qparams.scale;
  const scales = getDefined(weights.get(weight), 'weight of a bias').qparams.slices.map(slice => slice.scale);
  const perChannel = scales.length > 1;
  if (perChannel && (constant.dims.length !== 1 || constant.dims[0] !== scales.length)) return undefined;
  return { value: bias, nodes: [node], axis: perChannel ? 0 : undefined, ...quantizeBias(constant, inputScale, scales) };
}

function constantOf(graph: Graph, id: ValueId): RawTensor {
  return getDefined(findFloatConstant(graph, id), `constant ${id}`);
}

function nothingToQuantize(kept: ReadonlyMap<NodeId, string>, graph: Graph): QuantError {
  const reasons = [...new Set(kept.values())].slice(0, 5);
  const [first] = kept.keys();
  const example = first === undefined ? '' : `, such as ${getNode(graph, first).opType} "${getNode(graph, first).name}"`;
  return new QuantError('nothing-to-quantize', `graph "${graph.name}": all ${graph.nodes.size} nodes stay in float${example}`, {
    details: reasons,
    help: `reasons: ${reasons.join('; ') || 'the graph has no nodes'}`,
  });
}
