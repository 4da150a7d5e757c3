/** Params of `sensitivity`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { SAMPLE_PARAMS } from '../../src/runtime/capture/sample-request.js';

export const SENSITIVITY_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...SAMPLE_PARAMS,
    exact: {
      type: 'integer',
      minimum: 0,
      default: 20,
      description: 'Number of layers, those with the largest shares, whose exact cost is measured: one inference per layer and sample.',
    },
  },
} as const;

export type SensitivityParams = FromSchema<typeof SENSITIVITY_PARAMS>;
