/** The params that choose captured samples. They load nothing, as plans read them. */
import type { FromSchema } from '../../base/schema/from-schema.js';

export const SAMPLE_PARAMS = {
  part: {
    type: 'string',
    minLength: 1,
    description: 'The captured part that the model is; default: found by its input names.',
  },
  samples: { type: 'integer', minimum: 1, description: 'Number of captured samples, the first ones; default: all.' },
} as const;

const SAMPLE_REQUEST = { type: 'object', additionalProperties: false, properties: SAMPLE_PARAMS } as const;

export type SampleRequest = FromSchema<typeof SAMPLE_REQUEST>;
