/** What did quantization decide for each tensor, and why did a node stay in float? Plain JSON for people and for the report page. */
import type { JsonObject } from '../base/json.js';
import { getNode, getValue } from '../onnx/ir/edit.js';
import type { Graph, NodeId, ValueId } from '../onnx/ir/model.js';
import type { QdqDomain } from './insert-qdq.js';
import type { ActivationPlan, BiasPlan, QuantizationPlan, WeightPlan } from './plan-quantization.js';
import type { Range } from './qparams.js';
import type { QuantizationScheme } from './scheme.js';

export type QuantizationReport = JsonObject;

export interface ReportContext {
  readonly scheme: QuantizationScheme;
  readonly domain: QdqDomain;
  readonly samples: number;
  /** Ranges of the data, before the planner adjusts them. */
  readonly seen: ReadonlyMap<ValueId, Range>;
}

/** Describes `plan` by the names that `graph` has before it is edited. */
export function reportQuantization(graph: Graph, plan: QuantizationPlan, context: ReportContext): QuantizationReport {
  return {
    scheme: describeScheme(context),
    samples: context.samples,
    counts: {
      nodes: graph.nodes.size,
      activations: plan.activations.length,
      weights: plan.weights.length,
      biases: plan.biases.length,
      leftOutActivationFunctions: plan.removals.length,
      nodesInFloat: plan.kept.size,
    },
    activations: plan.activations.map(activation => describeActivation(graph, activation, context)),
    weights: plan.weights.map(weight => describeWeight(graph, weight)),
    biases: plan.biases.map(bias => describeBias(graph, bias)),
    leftOut: plan.removals.map(({ node }) => ({ ...describeNode(graph, node), reason: 'the range of its output saturates in its place' })),
    inFloat: [...plan.kept].map(([node, reason]) => ({ ...describeNode(graph, node), reason })),
  };
}

function describeScheme({ scheme, domain }: ReportContext): JsonObject {
  return { activation: scheme.activation, weight: scheme.weight, range: scheme.range, opTypes: [...scheme.opTypes], qdqDomain: domain };
}

function describeActivation(graph: Graph, plan: ActivationPlan, { scheme, seen }: ReportContext): JsonObject {
  const data = seen.get(plan.value);
  return {
    name: getValue(graph, plan.value).name,
    ...(data === undefined ? {} : { dataRange: [data.low, data.high] }),
    method: scheme.range.kind,
    range: [plan.range.low, plan.range.high],
    ...(plan.sharedWith === undefined ? {} : { sharedWith: getValue(graph, plan.sharedWith).name }),
    dtype: plan.dtype,
    scale: plan.qparams.scale,
    zeroPoint: plan.qparams.zeroPoint,
  };
}

function describeWeight(graph: Graph, { value, role, qparams, sqnrDb, widened }: WeightPlan): JsonObject {
  return {
    name: getValue(graph, value).name,
    role,
    dtype: qparams.dtype,
    ...(qparams.axis === undefined ? {} : { axis: qparams.axis }),
    scale: qparams.slices.map(slice => slice.scale),
    zeroPoint: qparams.slices.map(slice => slice.zeroPoint),
    // No number stands for "nothing lost" in JSON.
    sqnrDb: Number.isFinite(sqnrDb) ? sqnrDb : null,
    ...(widened ? { widenedForBias: true } : {}),
  };
}

function describeBias(graph: Graph, { value, nodes, scales, saturated }: BiasPlan): JsonObject {
  return {
    name: getValue(graph, value).name,
    nodes: nodes.map(node => getNode(graph, node).name),
    dtype: 'int32',
    scale: [...scales],
    ...(saturated === 0 ? {} : { saturated }),
  };
}

function describeNode(graph: Graph, id: NodeId): JsonObject {
  const { name, opType } = getNode(graph, id);
  return { node: name, opType };
}
