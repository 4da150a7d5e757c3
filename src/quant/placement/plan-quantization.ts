/** Which tensors of a model are quantized, with which parameters, and which nodes stay in float and why? Decided without touching the model. */
import { getNode } from '../../onnx/ir/edit.js';
import type { Graph, Node, NodeId, ValueId } from '../../onnx/ir/model.js';
import { QuantError } from '../integers/quant-error.js';
import type { Observation } from '../range/range-method.js';
import type { QuantizationScheme } from '../scheme/scheme.js';
import type { TensorSettings } from '../scheme/tensor-settings.js';
import { type Draft, type Fusion, makeDraft, type Removal } from './draft.js';
import { placementOf } from './placement.js';
import { type ActivationPlan, adjustObservations, planActivations } from './plan-activations.js';
import { type BiasPlan, planBiases, planWeights, type WeightPlan } from './plan-constants.js';

export interface QuantizationPlan {
  readonly scheme: QuantizationScheme;
  /** In graph order. */
  readonly activations: readonly ActivationPlan[];
  readonly weights: readonly WeightPlan[];
  readonly biases: readonly BiasPlan[];
  readonly removals: readonly Removal[];
  readonly fusions: readonly Fusion[];
  /** Nodes that stay in float, with the reason, in graph order. */
  readonly kept: ReadonlyMap<NodeId, string>;
}

export interface PlanRequest {
  readonly scheme: QuantizationScheme;
  /** What is known of each float32 activation. */
  readonly observations: ReadonlyMap<ValueId, Observation>;
  readonly excluded: ReadonlySet<NodeId>;
  readonly excludedValues?: ReadonlySet<ValueId>;
  /** What single tensors get that differs from the scheme. */
  readonly settings?: ReadonlyMap<ValueId, TensorSettings>;
}

/**
 * Plans the quantization of `graph`, whose nodes are in topological order. Nothing is changed.
 * Placement comes first, then the parameters of activations, of weights, of biases: what joins them (positions that an NPU can shift by, say) stands between.
 * @throws QuantError `nothing-to-quantize` where no node is left to quantize; `bad-range` where a weight is not finite; as chooseQParams.
 */
export function planQuantization(graph: Graph, request: PlanRequest): QuantizationPlan {
  const { scheme, settings = new Map(), excludedValues = new Set() } = request;
  const kept = new Map<NodeId, string>();
  const chosen = [...graph.nodes.values()].filter(node => {
    const reason = reasonToSkip(node, request);
    if (reason !== undefined) kept.set(node.id, reason);
    return reason === undefined;
  });
  const observations = adjustObservations(graph, chosen, request.observations, settings);
  const draft = makeDraft(graph, { scheme, observations, settings, excludedValues });
  for (const node of chosen) {
    const reason = placeNode(node, draft);
    if (reason !== undefined) kept.set(node.id, reason);
  }
  if (draft.activations.size === 0) throw nothingToQuantize(kept, graph);
  const activations = planActivations(draft);
  const weights = planWeights(draft, activations);
  return {
    scheme,
    activations: [...activations.values()],
    weights: [...weights.values()],
    biases: planBiases(draft, activations, weights),
    removals: draft.removals,
    fusions: draft.fusions,
    kept,
  };
}

function placeNode(node: Node, draft: Draft): string | undefined {
  const reason = placementOf(node.opType)(node, draft);
  if (draft.scheme.placement.floatOutputs.includes(node.opType)) {
    // A quantized reader, which comes later, asks for it again.
    for (const output of node.outputs) if (output !== undefined) draft.activations.delete(output);
  }
  return reason;
}

function reasonToSkip(node: Node, { scheme, excluded }: PlanRequest): string | undefined {
  if (excluded.has(node.id)) return 'excluded';
  if (node.domain !== '') return `its domain is ${node.domain}`;
  return scheme.opTypes.includes(node.opType) ? undefined : `${node.opType} is not among the operators to quantize`;
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
