/** The quantization scheme of the params: the preset with single settings changed. */

import { getDefined } from '../../base/invariant.js';
import { checkBias, checkKnobs } from '../scheme/check-settings.js';
import type { NodeTensorSelector, Override, TensorSelector } from '../scheme/overrides.js';
import { PRESETS, type QdqDomain, type QuantizationScheme, type RefineForm } from '../scheme/scheme.js';
import type { OverrideParam, QuantizeParams } from './quantize-params.js';
import { toRangeMethod, toWeightMethod } from './range-param.js';

export function schemeOf({ preset, activation, weight, bias, range, opTypes, placement }: QuantizeParams): QuantizationScheme {
  const base: QuantizationScheme = PRESETS[preset];
  return {
    activation: { ...base.activation, ...activation },
    weight: { ...base.weight, ...weight, range: weight.range === undefined ? base.weight.range : toWeightMethod(weight.range) },
    bias: { ...base.bias, ...bias },
    range: range === undefined ? base.range : toRangeMethod(range),
    opTypes: opTypes ?? base.opTypes,
    placement: { ...base.placement, ...placement },
  };
}

export function domainOf({ preset, qdqDomain }: QuantizeParams): QdqDomain {
  return qdqDomain ?? PRESETS[preset].qdqDomain;
}

/** The preset's form, unless a range method of the params chooses scales that are no powers of two. */
export function refineFormOf(params: QuantizeParams): RefineForm {
  const { range, weight } = schemeOf(params);
  const shifts = range.kind === 'power-of-two' && weight.range.kind === 'power-of-two';
  return params.refine ?? (shifts ? PRESETS[params.preset].refine : 'none');
}

export function overridesOf({ overrides }: QuantizeParams): readonly Override[] {
  return overrides.map(override => ({ ...selectorOf(override), set: toKnobs(override.set) }));
}

/** The params have either `tensor` or `node`: `checkQuantizeParams` ensures it. */
function selectorOf({ tensor, node, of, matches }: OverrideParam): TensorSelector | NodeTensorSelector {
  const any = matches === undefined ? {} : { matches };
  if (tensor !== undefined) return { tensor, ...any };
  return { node: getDefined(node, 'node of an override'), ...(of === undefined ? {} : { of }), ...any };
}

function toKnobs({ range, ...set }: OverrideParam['set']): Override['set'] {
  if (range === undefined) return set;
  return { ...set, range: typeof range === 'object' && !('kind' in range) ? range : toRangeMethod(range) };
}

/** Contradictions in the params, one sentence each. */
export function checkQuantizeParams(params: QuantizeParams): string[] {
  const { bias, range, weight, placement } = schemeOf(params);
  const problems = checkBias(bias).map(problem => `bias: ${problem}`);
  if (weight.bits !== undefined && placement.weights === 'pair') {
    problems.push('weight.bits: QuantizeLinear nodes use all bits of the type: set placement.weights to integers');
  }
  if (params.refine !== undefined && params.refine !== 'none' && (range.kind !== 'power-of-two' || weight.range.kind !== 'power-of-two')) {
    problems.push(`refine: ${params.refine} moves powers of two: set a power-of-two range and weight.range, or refine none`);
  }
  if (range.kind === 'power-of-two' && range.position.kind === 'min-mse' && range.position.first > range.position.last) {
    problems.push(`range: first ${range.position.first} is above last ${range.position.last}`);
  }
  for (const [index, override] of params.overrides.entries()) {
    if ('tensor' in override === 'node' in override) problems.push(`overrides[${index}]: set either tensor or node`);
    if ('tensor' in override && 'of' in override) problems.push(`overrides[${index}]: of requires node`);
    problems.push(...checkKnobs(toKnobs(override.set)).map(problem => `overrides[${index}]: ${problem}`));
  }
  return problems;
}
