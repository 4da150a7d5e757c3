/** Params of `capture`. */

import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { FIT_SCHEMA } from '../../src/detection/detector/fit-schema.js';
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import { OPTIMIZATION_SCHEMA } from '../../src/runtime/session/session-params.js';

export const CAPTURE_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    of: {
      type: 'string',
      enum: ['detector', 'model'],
      default: 'detector',
      description: 'What is run: the parts of a detector, or one model.',
    },
    samples: {
      type: 'integer',
      minimum: 1,
      description:
        'Number of samples: the first images by id, or files by name (the first of each folder, then the second, and so on). Default: all.',
    },
    rois: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        max: { type: 'integer', minimum: 1, default: 50, description: 'Maximum number of RoIs per image and head.' },
        keep: {
          type: 'string',
          enum: ['first', 'spread'],
          default: 'first',
          description: "Which RoIs are kept: the first in the detector's order, or RoIs spread evenly over it.",
        },
      },
      description: 'For the heads of a detector. Batches are never padded.',
    },
    fit: FIT_SCHEMA,
    preprocess: PREPROCESSING_SCHEMA,
    optimization: OPTIMIZATION_SCHEMA,
  },
} as const;

export type CaptureParams = FromSchema<typeof CAPTURE_PARAMS>;
