/** Resolves overrides to settings per tensor, and checks that every override affected a quantized tensor. */
import { getDefined } from '../../base/invariant.js';
import { getNode, getValue } from '../../onnx/ir/edit.js';
import type { Graph, Value, ValueId } from '../../onnx/ir/model.js';
import { findPosition, nearestPosition, scaleAt } from '../integers/power-of-two.js';
import { middleOf, type QParams } from '../integers/qparams.js';
import { QuantError } from '../integers/quant-error.js';
import { type IntegerScheme, storageRange } from '../integers/quantized-dtype.js';
import { isWeightMethod } from '../range/weight-range.js';
import { findOverridden, type Override, type OverrideKnobs } from '../scheme/overrides.js';
import type { QuantizationScheme } from '../scheme/scheme.js';
import { isFixedRange, NO_SETTINGS, type TensorSettings } from '../scheme/tensor-settings.js';
import type { QuantizationPlan } from './plan-quantization.js';

export interface ResolvedOverrides {
  readonly settings: ReadonlyMap<ValueId, TensorSettings>;
  /** The tensors of each override, in the order of the overrides. */
  readonly hits: readonly { readonly override: Override; readonly values: readonly Value[] }[];
}

/**
 * Later overrides win, setting by setting. A range replaces an earlier scale, and the reverse.
 * @throws OnnxError `selector-matches-nothing`; QuantError `contradictory-settings`, `bad-range`.
 */
export function resolveOverrides(graph: Graph, overrides: readonly Override[], scheme: QuantizationScheme): ResolvedOverrides {
  const settings = new Map<ValueId, TensorSettings>();
  const hits = overrides.map(override => {
    const values = findOverridden(graph, override);
    for (const value of values) settings.set(value.id, applyOverride(settings.get(value.id) ?? NO_SETTINGS, override.set, value, scheme));
    return { override, values };
  });
  return { settings, hits };
}

function applyOverride(before: TensorSettings, knobs: OverrideKnobs, value: Value, scheme: QuantizationScheme): TensorSettings {
  const { dtype, symmetric, reduceRange, perChannel, range, scale, bias } = knobs;
  const integers = { ...before.integers, ...(dtype && { dtype }), ...pick({ symmetric, reduceRange }) };
  const base = value.constant === undefined ? scheme.activation : scheme.weight;
  const { range: oldRange, qparams: oldQParams, ...rest } = before;
  const chosen = scale === undefined ? undefined : setQParams(knobs, { ...base, ...integers }, value, scheme);
  return {
    ...rest,
    integers,
    bias: { ...before.bias, ...bias },
    ...(perChannel === undefined ? {} : { perChannel }),
    ...(chosen === undefined ? withEarlierRange(range, oldRange, oldQParams) : { qparams: chosen }),
  };
}

function pick(knobs: { symmetric?: boolean | undefined; reduceRange?: boolean | undefined }): {
  symmetric?: boolean;
  reduceRange?: boolean;
} {
  return Object.fromEntries(Object.entries(knobs).filter(([, set]) => set !== undefined));
}

function withEarlierRange(
  range: TensorSettings['range'],
  oldRange: TensorSettings['range'],
  oldQParams: TensorSettings['qparams'],
): Pick<TensorSettings, 'range' | 'qparams'> {
  if (range !== undefined) return { range };
  if (oldRange !== undefined) return { range: oldRange };
  return oldQParams === undefined ? {} : { qparams: oldQParams };
}

function setQParams(knobs: OverrideKnobs, integers: IntegerScheme, value: Value, scheme: QuantizationScheme): QParams {
  const scale = Math.fround(getDefined(knobs.scale, 'scale'));
  const method = value.constant === undefined ? scheme.range : scheme.weight.range;
  if (method.kind === 'power-of-two' && findPosition(scale) === undefined) {
    const near = scaleAt(nearestPosition(scale));
    throw new QuantError(
      'contradictory-settings',
      `tensor "${value.name}": scale ${knobs.scale} is not a power of two, which its range method requires`,
      {
        help: `set scale to ${near}, the nearest power of two, or choose another range method for the tensor or the scheme`,
      },
    );
  }
  const { low, high } = storageRange(integers.dtype);
  const zeroPoint = knobs.zeroPoint ?? (integers.symmetric ? middleOf(integers) : 0);
  if (zeroPoint < low || zeroPoint > high) {
    throw new QuantError(
      'contradictory-settings',
      `tensor "${value.name}": zero point ${zeroPoint} is outside of ${integers.dtype} (${low} … ${high})`,
    );
  }
  return { scale, zeroPoint };
}

/**
 * Checks that each override has an effect: a tensor that is not quantized, or takes another tensor's parameters, would ignore it silently.
 * @throws QuantError `override-without-effect`.
 */
export function checkEffect(graph: Graph, plan: QuantizationPlan, { hits }: ResolvedOverrides): void {
  for (const { override, values } of hits) {
    const reasons = values.map(value => whyUnaffected(graph, plan, value, override.set));
    const [first] = reasons;
    if (first === undefined || reasons.includes(undefined)) continue;
    const more = values.length === 1 ? '' : ` (the same for all ${values.length} tensors that it selects)`;
    throw new QuantError('override-without-effect', `the override of "${values[0]?.name}" has no effect: ${first}${more}`, {
      details: reasons.map(reason => reason ?? ''),
      help: 'select a tensor that is quantized with its own range; the report and `tanren quant explain` list them',
    });
  }
}

/** What can be set of a constant whose elements activations hold. */
const OF_TABLE = '`dtype`, `symmetric`, `reduceRange`, `scale`, a fixed `range`, or the methods of weights';

/** Why `knobs` have no effect on `value`; undefined if they have one. */
function whyUnaffected(graph: Graph, plan: QuantizationPlan, value: Value, knobs: OverrideKnobs): string | undefined {
  const { bias, perChannel, ...others } = knobs;
  const activation = plan.activations.find(one => one.value === value.id);
  const weight = plan.weights.find(one => one.value === value.id);
  if (activation?.sharedWith !== undefined) {
    const provider = getValue(graph, activation.sharedWith);
    const what = provider.constant === undefined ? 'set them there' : `a constant: there, set ${OF_TABLE}`;
    return `it takes scale and zero point from "${provider.name}"${provider.constant === undefined ? ': ' : ', '}${what}`;
  }
  if (activation !== undefined) return Object.keys(others).length > 0 ? undefined : 'perChannel and bias do not apply to an activation';
  if (weight !== undefined) return whyNoEffectOnWeight(knobs);
  if (plan.biases.some(one => one.value === value.id) || bias?.dtype === 'float32') {
    return bias === undefined ? 'it is a bias: set `bias` with dtype and scale' : undefined;
  }
  const joined = [...plan.removals, ...plan.fusions].find(({ from }) => from === value.id);
  if (joined !== undefined) {
    const { opType, outputs } = getNode(graph, joined.node);
    const to = outputs[0] === undefined ? '' : getValue(graph, outputs[0]).name;
    return `it is not quantized, because ${opType} is fused with the operator before it: set "${to}"`;
  }
  if (value.constant !== undefined && value.constant.dtype !== 'float32') return `its type is ${value.constant.dtype}, not float32`;
  return 'it stays in float: no quantized node reads or computes it, or it is excluded';
}

function whyNoEffectOnWeight({ range, bias, ...others }: OverrideKnobs): string | undefined {
  if (range !== undefined && !isFixedRange(range) && !isWeightMethod(range)) {
    return `it is a constant: its range method must be one of weights (min-max, clip, mse or power-of-two), not ${range.kind}`;
  }
  return range === undefined && Object.keys(others).length === 0 && bias !== undefined ? 'it is not a bias' : undefined;
}
