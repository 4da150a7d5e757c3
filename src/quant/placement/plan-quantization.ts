/** Plans the quantization of a model without changing it: quantized tensors with their parameters, and float nodes with the reason. */
import { getNode } from '../../onnx/ir/edit.js';
import type { Graph, Node, NodeId, ValueId } from '../../onnx/ir/model.js';
import { QuantError } from '../integers/quant-error.js';
import type { Observation } from '../range/range-method.js';
import type { QuantizationScheme } from '../scheme/scheme.js';
import type { TensorSettings } from '../scheme/tensor-settings.js';
import { type Draft, type Fusion, makeDraft, type RefinedPositions, type Removal } from './draft.js';
import { placementOf } from './placement.js';
import { type ActivationPlan, adjustObservations, planActivations } from './plan-activations.js';
import { type BiasPlan, planBiases, planWeights, type WeightPlan } from './plan-constants.js';
import { findTied } from './weight-reads.js';

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
  /** The observation of each float32 activation. */
  readonly observations: ReadonlyMap<ValueId, Observation>;
  readonly excluded: ReadonlySet<NodeId>;
  readonly excludedValues?: ReadonlySet<ValueId>;
  /** Further nodes that stay in float, with the reason. */
  readonly inFloat?: ReadonlyMap<NodeId, string>;
  /** Settings of single tensors that differ from the scheme. */
  readonly settings?: ReadonlyMap<ValueId, TensorSettings>;
  /** Positions that replace those of the range methods. */
  readonly positions?: RefinedPositions;
}

/**
 * Plans the quantization of `graph`, whose nodes must be in topological order. Changes nothing.
 * The order is placement, parameters of activations, of weights, of biases.
 * @throws QuantError `nothing-to-quantize` if no node can be quantized; `bad-range` if a weight is not finite; as chooseQParams.
 */
export function planQuantization(graph: Graph, request: PlanRequest): QuantizationPlan {
  const { scheme, settings = new Map(), excludedValues = new Set(), positions } = request;
  const kept = new Map<NodeId, string>();
  const chosen = [...graph.nodes.values()].filter(node => {
    const reason = reasonToSkip(node, request);
    if (reason !== undefined) kept.set(node.id, reason);
    return reason === undefined;
  });
  const observations = adjustObservations(graph, chosen, request.observations, settings);
  const tied = findTied(graph, chosen);
  const draft = makeDraft(graph, {
    scheme,
    observations,
    settings,
    excludedValues,
    tied,
    ...(positions === undefined ? {} : { positions }),
  });
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
    // A quantized reader later in the graph adds it again.
    for (const output of node.outputs) if (output !== undefined) draft.activations.delete(output);
  }
  return reason;
}

function reasonToSkip(node: Node, { scheme, excluded, inFloat }: PlanRequest): string | undefined {
  if (excluded.has(node.id)) return 'excluded';
  if (node.domain !== '') return `domain ${node.domain} is not quantized`;
  if (scheme.opTypes.includes(node.opType)) return inFloat?.get(node.id);
  return `${node.opType} is not in the list of operators to quantize`;
}

function nothingToQuantize(kept: ReadonlyMap<NodeId, string>, graph: Graph): QuantError {
  const reasons = [...new Set(kept.values())].slice(0, 5);
  const [first] = kept.keys();
  const example = first === undefined ? '' : `, for example ${getNode(graph, first).opType} "${getNode(graph, first).name}"`;
  return new QuantError('nothing-to-quantize', `graph "${graph.name}": all ${graph.nodes.size} nodes stay in float${example}`, {
    details: reasons,
    help: `reasons: ${reasons.join('; ') || 'the graph has no nodes'}`,
  });
}
