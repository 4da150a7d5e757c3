/** Params of `round-weights`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';

export const ROUND_WEIGHTS_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    part: {
      type: 'string',
      minLength: 1,
      description: 'The captured part that the model is; default: found by its input names.',
    },
    samples: { type: 'integer', minimum: 1, description: 'Number of captured samples, the first ones; default: all.' },
    damping: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 1,
      default: 0.01,
      description:
        'Share of the mean square of the inputs that is added to the square of each; more keeps the weights closer to their own values.',
    },
  },
} as const;

export type RoundWeightsParams = FromSchema<typeof ROUND_WEIGHTS_PARAMS>;
