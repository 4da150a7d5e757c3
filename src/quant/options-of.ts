/** The options of a quantization by the params of `quantize`, and by the types that `widen-types` has widened. */
import type { PositionLimits } from './positions/problem/position-limits.js';
import type { QuantizeOptions } from './quantize-model.js';
import type { Exclusion } from './scheme/overrides.js';
import type { QuantizeParams } from './settings/quantize-params.js';
import { domainOf, overridesOf, refineFormOf, schemeOf } from './settings/scheme-of.js';
import { NOTHING_WIDER, type WidenedTypes } from './widening/widened-types.js';

/**
 * The widened types come last, so that they win. A `qdqDomain` of the params stays.
 * @param limits bounds for `refine`; without them positions stay.
 */
export function optionsOf(params: QuantizeParams, widened?: WidenedTypes, limits?: PositionLimits): QuantizeOptions {
  const method = refineFormOf(params);
  return {
    scheme: schemeOf(params),
    exclude: [...params.exclude, ...excludedBy(widened ?? NOTHING_WIDER)],
    overrides: [
      ...overridesOf(params),
      ...(widened?.overrides ?? []).map(({ tensor, set: { dtype, range } }) => ({
        tensor,
        set: { dtype, ...(range === undefined ? {} : { range: { kind: range } as const }) },
      })),
    ],
    domain: params.qdqDomain ?? widened?.qdqDomain ?? domainOf(params),
    joins: params.joins,
    ...(method === 'none' || limits === undefined ? {} : { refine: { method, limits } }),
  };
}

function excludedBy({ exclude: { tensors, outputs } }: WidenedTypes): readonly Exclusion[] {
  return [...tensors.map(tensor => ({ tensor })), ...outputs.map(output => ({ output }))];
}
