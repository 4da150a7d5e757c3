/** Params of `round-weights`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { GUARD_PARAM } from '../../src/quant/recovery/output-guard.js';
import { SAMPLE_PARAMS } from '../../src/runtime/capture/sample-request.js';

export const ROUND_WEIGHTS_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...SAMPLE_PARAMS,
    guard: GUARD_PARAM,
    method: {
      enum: ['gptq', 'adaround'],
      default: 'gptq',
      description: 'How weights are rounded: one after the other (GPTQ), or all together by gradient descent (AdaRound).',
    },
    iterations: {
      type: 'integer',
      minimum: 1,
      default: 10,
      description: 'Steps of gradient descent of `adaround` per layer; `gptq` takes none.',
    },
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
