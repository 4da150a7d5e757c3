/** Plans the parameters and integers of weights and biases. */
import { getDefined } from '../../base/invariant.js';
import type { Graph, NodeId, ValueId } from '../../onnx/ir/model.js';
import type { RawTensor } from '../../tensor/tensor.js';
import { scaleAt } from '../integers/power-of-two.js';
import type { TensorQParams } from '../integers/qparams.js';
import type { WeightRangeMethod } from '../range/weight-range.js';
import type { BiasScheme } from '../scheme/scheme.js';
import { type QuantizedBias, quantizeBias, quantizeBiasAt, quantizeBiasAtOwnScale, widenForBias } from '../weights/biases.js';
import { quantizeWeight } from '../weights/weights.js';
import { type Draft, findFloatConstant, type PendingBias, settingsOf, type WeightParameters } from './draft.js';
import type { ActivationPlan } from './plan-activations.js';
import { weightParameters } from './weight-parameters.js';

export interface WeightPlan {
  readonly value: ValueId;
  readonly role: 'weight' | 'activation';
  readonly qparams: TensorQParams;
  readonly integers: RawTensor;
  readonly sqnrDb: number;
  /** The range method; 'set' if the user set the range or scale. */
  readonly method: WeightRangeMethod | 'set';
  /** Whether the scale was increased so that a bias fits into int32. */
  readonly widened: boolean;
}

export interface BiasPlan extends QuantizedBias {
  readonly value: ValueId;
  /** The nodes that read these integers. */
  readonly nodes: readonly NodeId[];
  readonly axis: number | undefined;
}

export function planWeights(draft: Draft, activations: ReadonlyMap<ValueId, ActivationPlan>): Map<ValueId, WeightPlan> {
  const biases = new Map<ValueId, PendingBias[]>();
  for (const bias of draft.biases.values()) biases.set(bias.weight, [...(biases.get(bias.weight) ?? []), bias]);
  // Weight by weight, so that the elements of each are read from memory once.
  return new Map(
    [...draft.weights].map(([value, pending]) => {
      const parameters = weightParameters(draft, value, pending);
      const { qparams, method, limits } = parameters;
      const final = widenForBiases(draft, activations, parameters, biases.get(value) ?? []);
      const quantized = quantizeWeight(constantOf(draft.graph, value), final, limits);
      return [value, { value, role: pending.role, method, qparams: final, ...quantized, widened: !sameScales(qparams, final) }];
    }),
  );
}

/** The parameters of a weight with which these biases, which are added to its products, fit. */
function widenForBiases(
  draft: Draft,
  activations: ReadonlyMap<ValueId, ActivationPlan>,
  { qparams, method }: WeightParameters,
  biases: readonly PendingBias[],
): TensorQParams {
  if (method === 'set') return qparams;
  const form = method.kind === 'power-of-two' ? 'power-of-two' : 'float';
  return biases.reduce((widened, { bias, input }) => {
    const scheme = biasScheme(draft, bias);
    if (scheme.scale !== 'product' || scheme.dtype !== 'int32') return widened;
    const inputScale = getDefined(activations.get(input), 'input of a bias').qparams.scale;
    return widenForBias(widened, constantOf(draft.graph, bias), inputScale, form);
  }, qparams);
}

function sameScales(a: TensorQParams, b: TensorQParams): boolean {
  return a.slices.every((slice, i) => slice.scale === b.slices[i]?.scale);
}

/** One plan per pair of bias and scales. Several nodes share it if both are equal. */
export function planBiases(
  draft: Draft,
  activations: ReadonlyMap<ValueId, ActivationPlan>,
  weights: ReadonlyMap<ValueId, WeightPlan>,
): BiasPlan[] {
  const plans = new Map<string, BiasPlan>();
  for (const pending of draft.biases.values()) {
    const plan = planBias(draft, pending, activations, weights);
    if (plan === undefined) continue;
    const key = `${plan.value} ${plan.scales.join(' ')}`;
    const earlier = plans.get(key);
    plans.set(key, earlier === undefined ? plan : { ...earlier, nodes: [...earlier.nodes, pending.node] });
  }
  return [...plans.values()];
}

function planBias(
  draft: Draft,
  { node, bias, input, weight }: PendingBias,
  activations: ReadonlyMap<ValueId, ActivationPlan>,
  weights: ReadonlyMap<ValueId, WeightPlan>,
): BiasPlan | undefined {
  const { dtype, scale } = biasScheme(draft, bias);
  if (dtype === 'float32') return undefined;
  const constant = constantOf(draft.graph, bias);
  const position = draft.positions?.biases.get(bias);
  if (position !== undefined) return { value: bias, nodes: [node], axis: undefined, ...quantizeBiasAt(constant, scaleAt(position), dtype) };
  if (scale === 'power-of-two') return { value: bias, nodes: [node], axis: undefined, ...quantizeBiasAtOwnScale(constant, dtype) };
  const inputScale = getDefined(activations.get(input), 'input of a bias').qparams.scale;
  const scales = getDefined(weights.get(weight), 'weight of a bias').qparams.slices.map(slice => slice.scale);
  const perChannel = scales.length > 1;
  if (perChannel && (constant.dims.length !== 1 || constant.dims[0] !== scales.length)) return undefined;
  return { value: bias, nodes: [node], axis: perChannel ? 0 : undefined, ...quantizeBias(constant, inputScale, scales, dtype) };
}

function biasScheme(draft: Draft, bias: ValueId): BiasScheme {
  return { ...draft.scheme.bias, ...settingsOf(draft, bias).bias };
}

function constantOf(graph: Graph, id: ValueId): RawTensor {
  return getDefined(findFloatConstant(graph, id), `constant ${id}`);
}
