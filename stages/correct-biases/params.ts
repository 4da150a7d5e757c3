/** Params of `correct-biases`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';

export const CORRECT_BIASES_PARAMS = {
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

export type CorrectBiasesParams = FromSchema<typeof CORRECT_BIASES_PARAMS>;
