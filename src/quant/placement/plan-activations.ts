/** Plans the parameters of activations: from their own range, or shared with another value. */
import { getDefined } from '../../base/invariant.js';
import { indexUses } from '../../onnx/ir/edit.js';
import type { Graph, Node, ValueId } from '../../onnx/ir/model.js';
import { coveredRange, type QParams, type Range } from '../integers/qparams.js';
import type { QuantizedDType } from '../integers/quantized-dtype.js';
import type { Observation } from '../range/range-method.js';
import { isFixedRange, type TensorSettings } from '../scheme/tensor-settings.js';
import { chooseFor, type Draft, integersOf } from './draft.js';
import { weightParameters } from './weight-parameters.js';

export interface ActivationPlan {
  readonly value: ValueId;
  /** The range that the parameters cover (see Chosen); the provider's range if `sharedWith` is set. */
  readonly range: Range;
  readonly dtype: QuantizedDType;
  readonly qparams: QParams;
  /** The value whose parameters are used: an activation, or a constant that is quantized as one. */
  readonly sharedWith: ValueId | undefined;
}

/**
 * Replaces observations: with a range that the user set; for the only input of a Relu or Clip, with that of its output, because clipped values need no integers;
 * for Softmax, with 0 … 1. The last two follow onnxruntime.quantization, node by node.
 */
export function adjustObservations(
  graph: Graph,
  nodes: readonly Node[],
  seen: ReadonlyMap<ValueId, Observation>,
  settings: ReadonlyMap<ValueId, TensorSettings>,
): ReadonlyMap<ValueId, Observation> {
  const observations = new Map(seen);
  const fixed = new Set<ValueId>();
  for (const [id, { range }] of settings) {
    if (range === undefined || !isFixedRange(range) || !observations.has(id)) continue;
    observations.set(id, { kind: 'known', range });
    fixed.add(id);
  }
  const uses = indexUses(graph);
  const isFree = (id: ValueId): boolean => observations.has(id) && !fixed.has(id);
  for (const { opType, inputs, outputs } of nodes) {
    const [from, to] = [inputs[0], outputs[0]];
    if (from === undefined || to === undefined) continue;
    const output = observations.get(to);
    if (output === undefined) continue;
    if ((opType === 'Relu' || opType === 'Clip') && uses.get(from)?.length === 1 && isFree(from)) observations.set(from, output);
    if (opType === 'Softmax' && isFree(to)) observations.set(to, { kind: 'known', range: { low: 0, high: 1 } });
  }
  return observations;
}

export function planActivations(draft: Draft): Map<ValueId, ActivationPlan> {
  const plans = new Map<ValueId, ActivationPlan>();
  for (const [value, provider] of draft.activations) {
    if (provider === undefined)
      plans.set(value, { value, dtype: integersOf(draft, value).dtype, ...chooseFor(draft, value), sharedWith: undefined });
    else {
      // A provider comes before the values that share its parameters, so its plan exists.
      const shared = planOfConstant(draft, provider) ?? getDefined(plans.get(provider), 'provider of shared parameters');
      plans.set(value, { ...shared, value, sharedWith: shared.sharedWith ?? provider });
    }
  }
  return plans;
}

/** The parameters that a constant gives to the values that hold its elements. */
function planOfConstant(draft: Draft, id: ValueId): ActivationPlan | undefined {
  const pending = draft.weights.get(id);
  if (pending === undefined) return undefined;
  const { dtype, slices } = weightParameters(draft, id, pending).qparams;
  const qparams = getDefined(slices[0], 'parameters of a constant');
  return { value: id, dtype, qparams, range: coveredRange(qparams, dtype), sharedWith: undefined };
}
