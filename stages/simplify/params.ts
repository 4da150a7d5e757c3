/** Params of `simplify`. */

import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { FOLD_LIMIT_BYTES } from '../../src/onnx/passes/fold-limit.js';

export const SIMPLIFY_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    foldLimitBytes: { type: 'integer', minimum: 0, default: FOLD_LIMIT_BYTES, description: 'Largest constant that folding may create.' },
    skip: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      uniqueItems: true,
      default: [],
      description: 'Passes to skip, by name.',
    },
    samples: {
      type: 'integer',
      minimum: 0,
      default: 2,
      description: 'Number of inputs on which equality is checked, random unless `tensors` is connected; 0: none.',
    },
    tolerance: {
      type: 'number',
      minimum: 0,
      default: 1e-4,
      description:
        'For passes that round: the largest allowed difference of an output, as a share of its standard deviation. Exact passes must keep every bit.',
    },
    freeSize: {
      type: 'integer',
      minimum: 1,
      default: 3,
      description: 'Size of a free dimension in the samples, for example a RoI batch.',
    },
    sizes: {
      type: 'object',
      additionalProperties: { type: 'integer', minimum: 1 },
      default: {},
      description: 'Sizes of free dimensions in the samples, by name.',
    },
  },
} as const;

export type SimplifyParams = FromSchema<typeof SIMPLIFY_PARAMS>;
