/** The params of `quantize`. */

import type { Range } from '../../src/quant/integers/qparams.js';
import type { IntegerScheme } from '../../src/quant/integers/quantized-dtype.js';
import type { Exclusion, NodeTensorSelector, OverrideKnobs, TensorSelector } from '../../src/quant/scheme/overrides.js';
import type { BiasScheme, PlacementScheme, PresetName, QdqDomain, WeightScheme } from '../../src/quant/scheme/scheme.js';
import type { RangeParam, WeightRangeParam } from './range-param.js';

/** Absent members keep the value of the preset. */
export interface QuantizeParams {
  readonly preset: PresetName;
  readonly activation: Partial<IntegerScheme>;
  readonly weight: Partial<Omit<WeightScheme, 'range'>> & { readonly range?: WeightRangeParam };
  readonly bias: Partial<BiasScheme>;
  readonly range?: RangeParam;
  readonly opTypes?: readonly string[];
  readonly placement: Partial<PlacementScheme>;
  readonly exclude: readonly Exclusion[];
  readonly overrides: readonly OverrideParam[];
  readonly qdqDomain?: QdqDomain;
}

export type OverrideParam = (TensorSelector | NodeTensorSelector) & { readonly set: OverrideKnobsParam };

export type OverrideKnobsParam = Omit<OverrideKnobs, 'range'> & { readonly range?: RangeParam | Range };
