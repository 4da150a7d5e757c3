/** Params of `evaluate`. */

import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { FIT_SCHEMA } from '../../src/detection/detector/fit-schema.js';
import { RUNNER_SCHEMA } from '../../src/runtime/device/runner-params.js';
import { OPTIMIZATION_SCHEMA } from '../../src/runtime/session/session-params.js';

export const EVALUATE_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...RUNNER_SCHEMA,
    samples: {
      type: 'integer',
      minimum: 1,
      description: 'Number of images, the first ones by id. The figures cover these images only. Default: all.',
    },
    iouTypes: {
      type: 'array',
      items: { type: 'string', enum: ['bbox', 'segm', 'boundary', 'keypoints'] },
      minItems: 1,
      uniqueItems: true,
      default: ['bbox', 'segm'],
      description:
        'Which figures are computed: for boxes, for masks, for masks by Boundary IoU, for keypoints (OKS, with the standard deviations of 17 points of a person).',
    },
    optimization: OPTIMIZATION_SCHEMA,
    fit: FIT_SCHEMA,
  },
} as const;

export type EvaluateParams = FromSchema<typeof EVALUATE_PARAMS>;

export type IouType = EvaluateParams['iouTypes'][number];
