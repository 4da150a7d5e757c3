/** Params of `search-ranges`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { GUARD_PARAM } from '../../src/quant/recovery/output-guard.js';
import { QUANTIZE_PARAMS } from '../../src/quant/settings/quantize-params.js';
import { SAMPLE_PARAMS } from '../../src/runtime/capture/sample-request.js';

export const SEARCH_RANGES_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...SAMPLE_PARAMS,
    guard: GUARD_PARAM,
    quantize: {
      ...QUANTIZE_PARAMS,
      default: {},
      description: 'The params of the stage `quantize` that reads the result.',
    },
    layers: {
      type: 'integer',
      minimum: 1,
      default: 4,
      description: 'The most layers of a block. With 1, each range is judged by the output of its own layer.',
    },
    rounds: {
      type: 'integer',
      minimum: 1,
      default: 2,
      description: 'How often the tensors of a block take turns, if ranges still change.',
    },
    weights: { type: 'boolean', default: true, description: 'Whether ranges of weights are searched too.' },
  },
} as const;

export type SearchRangesParams = FromSchema<typeof SEARCH_RANGES_PARAMS>;
