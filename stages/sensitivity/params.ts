/** Params of `sensitivity`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';

export const SENSITIVITY_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    part: {
      type: 'string',
      minLength: 1,
      description: 'The captured part that the model is; default: found by its input names.',
    },
    samples: { type: 'integer', minimum: 1, description: 'Number of captured samples, the first ones; default: all.' },
    exact: {
      type: 'integer',
      minimum: 0,
      default: 20,
      description: 'Number of layers, those with the largest shares, whose exact cost is measured: one inference per layer and sample.',
    },
  },
} as const;

export type SensitivityParams = FromSchema<typeof SENSITIVITY_PARAMS>;
