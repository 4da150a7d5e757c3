/** Params of the stage `quantize`: those of integers, and the presets of float formats, which have no settings. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { QUANTIZE_PARAMS, type QuantizeParams } from '../../src/quant/settings/quantize-params.js';
import { checkQuantizeParams } from '../../src/quant/settings/scheme-of.js';
import type { FloatFormat } from '../../src/quant/simulate/floats/float-format.js';

/** The declaration loads no arithmetic, so the names stand here too. */
const FLOAT_PRESETS = ['bf16', 'bfp16'] as const satisfies readonly FloatFormat[];

const { preset, ...others } = QUANTIZE_PARAMS.properties;

export const QUANTIZE_STAGE_PARAMS = {
  ...QUANTIZE_PARAMS,
  properties: {
    preset: {
      ...preset,
      enum: [...preset.enum, ...FLOAT_PRESETS],
      description: `${preset.description} bf16, bfp16: no integers; the float model as an NPU computes it in these formats.`,
    },
    ...others,
  },
} as const;

export type QuantizeStageParams = FromSchema<typeof QUANTIZE_STAGE_PARAMS>;

/** Undefined for presets of integers. */
export function floatFormatOf(params: Pick<QuantizeStageParams, 'preset'>): FloatFormat | undefined {
  return FLOAT_PRESETS.find(format => format === params.preset);
}

export function isIntegerPreset(params: QuantizeStageParams): params is QuantizeParams {
  return floatFormatOf(params) === undefined;
}

/** Contradictions in the params, one sentence each. */
export function checkStageParams(params: QuantizeStageParams): string[] {
  if (isIntegerPreset(params)) return checkQuantizeParams(params);
  const set = Object.entries(params).filter(
    ([name, value]) => name !== 'preset' && value !== undefined && value !== 'shared' && JSON.stringify(value).length > 2,
  );
  return set.length === 0 ? [] : [`preset ${params.preset} has no integers to set: remove ${set.map(([name]) => name).join(', ')}`];
}
