/** Params of `refit-statistics`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';

export const REFIT_STATISTICS_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    part: {
      type: 'string',
      minLength: 1,
      description: 'The captured part that the model is; default: found by its input names.',
    },
    samples: { type: 'integer', minimum: 1, description: 'Number of captured samples, the first ones; default: all.' },
  },
} as const;

export type RefitStatisticsParams = FromSchema<typeof REFIT_STATISTICS_PARAMS>;
