/** Builds the quantization report: the parameters of every tensor, and the reason for every node that stays in float. */
import type { JsonObject } from '../../base/json.js';
import { getNode, getValue } from '../../onnx/ir/edit.js';
import type { Graph, NodeId, ValueId } from '../../onnx/ir/model.js';
import { findPosition } from '../integers/power-of-two.js';
import { integersOf, methodOf } from '../placement/draft.js';
import type { ActivationPlan } from '../placement/plan-activations.js';
import type { BiasPlan, WeightPlan } from '../placement/plan-constants.js';
import type { QuantizationPlan } from '../placement/plan-quantization.js';
import { describeMethod } from '../range/describe-method.js';
import type { Observation } from '../range/range-method.js';
import { ownSqnr, saturationShare } from '../range/range-quality.js';
import type { QdqDomain, QuantizationScheme } from '../scheme/scheme.js';
import type { TensorSettings } from '../scheme/tensor-settings.js';
import type { ActivationEntry, BiasEntry, QuantizationReport, ReasonEntry, WeightEntry } from './report-entries.js';

export interface ReportContext {
  readonly scheme: QuantizationScheme;
  readonly domain: QdqDomain;
  readonly samples: number;
  /** Calibration data, before the planner adjusts it. */
  readonly observations: ReadonlyMap<ValueId, Observation>;
  readonly settings: ReadonlyMap<ValueId, TensorSettings>;
}

/** Describes `plan` with the names that `graph` has before it is edited. */
export function reportQuantization(graph: Graph, plan: QuantizationPlan, context: ReportContext): Omit<QuantizationReport, 'accumulators'> {
  const { scheme, domain, samples } = context;
  return {
    scheme: encodeScheme(scheme, domain),
    samples,
    counts: {
      nodes: graph.nodes.size,
      activations: plan.activations.length,
      weights: plan.weights.length,
      biases: plan.biases.length,
      removedActivationFunctions: plan.removals.length,
      fusedActivationFunctions: plan.fusions.length,
      nodesInFloat: plan.kept.size,
    },
    activations: plan.activations.map(activation =>
      describeActivation(graph, activation, describeMethodOf(plan, activation, context), context),
    ),
    weights: plan.weights.map(weight => describeWeight(graph, weight)),
    biases: plan.biases.map(bias => describeBias(graph, bias)),
    removed: plan.removals.map(({ node, from }) => ({
      ...describeNode(graph, node),
      input: getValue(graph, from).name,
      reason: 'the range of its output saturates in its place',
    })),
    fused: plan.fusions.map(({ node, from }) => ({ ...describeNode(graph, node), input: getValue(graph, from).name })),
    inFloat: [...plan.kept].map(([node, reason]) => ({ ...describeNode(graph, node), reason })),
  };
}

function encodeScheme({ activation, weight, bias, range, opTypes, placement }: QuantizationScheme, qdqDomain: QdqDomain): JsonObject {
  return {
    activation: { ...activation },
    weight: { ...weight, range: describeMethod(weight.range) },
    bias: { ...bias },
    range: describeMethod(range),
    opTypes,
    placement: { ...placement },
    qdqDomain,
  };
}

/** The range method of the activation or constant whose parameters are used. */
function describeMethodOf(plan: QuantizationPlan, { value, sharedWith }: ActivationPlan, context: ReportContext): string {
  const owner = sharedWith ?? value;
  const constant = plan.weights.find(weight => weight.value === owner);
  const method = constant === undefined ? methodOf(context, owner) : constant.method;
  return method === undefined || method === 'set' ? 'set' : describeMethod(method);
}

function describeActivation(graph: Graph, plan: ActivationPlan, method: string, context: ReportContext): ActivationEntry {
  const { scale, zeroPoint } = plan.qparams;
  const position = findPosition(scale);
  return {
    name: getValue(graph, plan.value).name,
    ...describeSeen(plan, context),
    method,
    range: [plan.range.low, plan.range.high],
    ...(plan.sharedWith === undefined ? {} : { sharedWith: getValue(graph, plan.sharedWith).name }),
    dtype: plan.dtype,
    scale,
    zeroPoint,
    ...(position === undefined ? {} : { position }),
  };
}

/** Calibration data of the value itself, and how well the parameters fit it. */
function describeSeen(
  plan: ActivationPlan,
  context: ReportContext,
): Pick<ActivationEntry, 'dataRange' | 'elements' | 'saturationShare' | 'sqnrDb'> {
  const observation = context.observations.get(plan.value);
  if (observation?.kind !== 'seen') return {};
  const { sketch } = observation;
  if (sketch.min === undefined || sketch.max === undefined) return {};
  const integers = { ...integersOf(context, plan.sharedWith ?? plan.value), dtype: plan.dtype };
  const sqnrDb = ownSqnr(sketch, plan.qparams, integers);
  return {
    dataRange: [sketch.min, sketch.max],
    elements: sketch.count,
    saturationShare: saturationShare(sketch, plan.qparams, integers),
    ...(sqnrDb === undefined ? {} : { sqnrDb: encodeDb(sqnrDb) }),
  };
}

/** JSON has no Infinity, so null means that nothing is lost. */
function encodeDb(db: number): number | null {
  return Number.isFinite(db) ? db : null;
}

function describeWeight(graph: Graph, { value, role, method, qparams, sqnrDb, widened }: WeightPlan): WeightEntry {
  const position = qparams.slices.length === 1 ? findPosition(qparams.slices[0]?.scale ?? 0) : undefined;
  return {
    name: getValue(graph, value).name,
    role,
    method: method === 'set' ? method : describeMethod(method),
    dtype: qparams.dtype,
    ...(qparams.axis === undefined ? {} : { axis: qparams.axis }),
    scale: qparams.slices.map(slice => slice.scale),
    zeroPoint: qparams.slices.map(slice => slice.zeroPoint),
    ...(position === undefined ? {} : { position }),
    sqnrDb: encodeDb(sqnrDb),
    ...(widened ? { widenedForBias: true } : {}),
  };
}

function describeBias(graph: Graph, { value, nodes, dtype, scales, saturated, sqnrDb }: BiasPlan): BiasEntry {
  return {
    name: getValue(graph, value).name,
    nodes: nodes.map(node => getNode(graph, node).name),
    dtype,
    scale: [...scales],
    sqnrDb: encodeDb(sqnrDb),
    ...(saturated === 0 ? {} : { saturated }),
  };
}

function describeNode(graph: Graph, id: NodeId): Pick<ReasonEntry, 'node' | 'opType'> {
  const { name, opType } = getNode(graph, id);
  return { node: name, opType };
}
