/** Which scheme do the params describe? The preset, with single knobs turned. */
import { PRESETS, type QuantizationScheme } from '../../src/quant/scheme.js';
import type { QuantizeParams } from './params.js';

export function schemeOf({ preset, activation, weight, opTypes }: QuantizeParams): QuantizationScheme {
  const base = PRESETS[preset];
  return {
    activation: { ...base.activation, ...activation },
    weight: { ...base.weight, ...weight },
    range: base.range,
    opTypes: opTypes ?? base.opTypes,
  };
}
