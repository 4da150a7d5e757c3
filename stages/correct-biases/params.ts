/** Params of `correct-biases`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { GUARD_PARAM } from '../../src/quant/recovery/output-guard.js';
import { SAMPLE_PARAMS } from '../../src/runtime/capture/sample-request.js';

export const CORRECT_BIASES_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: { ...SAMPLE_PARAMS, guard: GUARD_PARAM },
} as const;

export type CorrectBiasesParams = FromSchema<typeof CORRECT_BIASES_PARAMS>;
