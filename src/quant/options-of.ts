/** The options of a quantization by the params of `quantize`, and by the types and ranges that other stages found. */
import type { PositionLimits } from './positions/problem/position-limits.js';
import type { QuantizeOptions } from './quantize-model.js';
import type { Exclusion, OverrideKnobs } from './scheme/overrides.js';
import type { QuantizeParams } from './settings/quantize-params.js';
import { domainOf, overridesOf, refineFormOf, schemeOf } from './settings/scheme-of.js';
import { NOTHING_WIDER, type RangeOverride, type WidenedTypes } from './widening/widened-types.js';

/**
 * The widened types come last, so that they win. A `qdqDomain` of the params stays.
 * @param limits bounds for `refine`; without them positions stay.
 */
export function optionsOf(params: QuantizeParams, widened?: WidenedTypes, limits?: PositionLimits): QuantizeOptions {
  const method = refineFormOf(params);
  return {
    scheme: schemeOf(params),
    exclude: [...params.exclude, ...excludedBy(widened ?? NOTHING_WIDER)],
    overrides: [...overridesOf(params), ...(widened?.overrides ?? []).map(({ tensor, set }) => ({ tensor, set: knobsOf(set) }))],
    domain: params.qdqDomain ?? widened?.qdqDomain ?? domainOf(params),
    joins: params.joins,
    ...(method === 'none' || limits === undefined ? {} : { refine: { method, limits } }),
  };
}

function knobsOf({ range, ends, clip, ...set }: RangeOverride['set']): OverrideKnobs {
  if (ends !== undefined) return { ...set, range: ends };
  if (clip !== undefined) return { ...set, range: { kind: 'clip', share: clip } };
  return { ...set, ...(range === undefined ? {} : { range: { kind: range } }) };
}

function excludedBy({ exclude: { tensors, outputs } }: WidenedTypes): readonly Exclusion[] {
  return [...tensors.map(tensor => ({ tensor })), ...outputs.map(output => ({ output }))];
}
