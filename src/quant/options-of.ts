/** The options of a quantization by the params of `quantize`, and by the types that `widen-types` has widened. */
import type { QuantizeOptions } from './quantize-model.js';
import type { Exclusion } from './scheme/overrides.js';
import type { QuantizeParams } from './settings/quantize-params.js';
import { domainOf, overridesOf, schemeOf } from './settings/scheme-of.js';
import { NOTHING_WIDER, type WidenedTypes } from './widening/widened-types.js';

/** The widened types come last, so that they win. A `qdqDomain` of the params stays. */
export function optionsOf(params: QuantizeParams, widened?: WidenedTypes): QuantizeOptions {
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
  };
}

function excludedBy({ exclude: { tensors, outputs } }: WidenedTypes): readonly Exclusion[] {
  return [...tensors.map(tensor => ({ tensor })), ...outputs.map(output => ({ output }))];
}
