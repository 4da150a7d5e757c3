/** Which parameters does each activation get? Its own range's, or those of the value that it shares them with. */
import { getDefined } from '../../base/invariant.js';
import { indexUses } from '../../onnx/ir/edit.js';
import type { Graph, Node, ValueId } from '../../onnx/ir/model.js';
import type { QParams, Range } from '../integers/qparams.js';
import type { QuantizedDType } from '../integers/quantized-dtype.js';
import type { Observation } from '../range/range-method.js';
import { isFixedRange, type TensorSettings } from '../scheme/tensor-settings.js';
import { chooseFor, type Draft, integersOf } from './draft.js';

export interface ActivationPlan {
  readonly value: ValueId;
  /** What the parameters cover (see Chosen); the provider's where `sharedWith` is set. */
  readonly range: Range;
  readonly dtype: QuantizedDType;
  readonly qparams: QParams;
  /** The value whose parameters these are. */
  readonly sharedWith: ValueId | undefined;
}

/**
 * What is known of each activation beside what was seen: a range that the user set; of what feeds a Relu or Clip alone, its output, as what is cut off needs
 * no integers; of Softmax, 0 … 1. The last two as onnxruntime.quantization does, one node after the other.
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
    // A provider is produced before what it is shared with, so its plan exists.
    if (provider === undefined)
      plans.set(value, { value, dtype: integersOf(draft, value).dtype, ...chooseFor(draft, value), sharedWith: undefined });
    else {
      const shared = getDefined(plans.get(provider), 'provider of shared parameters');
      plans.set(value, { ...shared, value, sharedWith: shared.sharedWith ?? provider });
    }
  }
  return plans;
}
