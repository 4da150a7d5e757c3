/** Params of `evaluate-segmentation`. */

import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import { RUNNER_SCHEMA } from '../../src/runtime/device/runner-params.js';
import { OPTIMIZATION_SCHEMA } from '../../src/runtime/session/session-params.js';

const VALUE = { type: 'integer', minimum: 0, maximum: 65535 } as const;

export const EVALUATE_SEGMENTATION_PARAMS = {
  type: 'object',
  additionalProperties: false,
  required: ['preprocess'],
  properties: {
    ...RUNNER_SCHEMA,
    preprocess: PREPROCESSING_SCHEMA,
    output: {
      type: 'string',
      minLength: 1,
      description: 'The output with a score per class and pixel, or with classes. Default: the only output.',
    },
    classes: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 2,
      uniqueItems: true,
      description: "Class names in the order of the network's outputs; metrics per class have these names. Default: the numbers from 0.",
    },
    ignore: {
      type: 'array',
      items: VALUE,
      uniqueItems: true,
      default: [255],
      description: 'Numbers in a mask of pixels that count neither way.',
    },
    firstValue: {
      ...VALUE,
      default: 0,
      description:
        'The number in a mask that is class 0; the classes follow it, and lower numbers are ignored. 1, for example, for ADE20K.',
    },
    values: {
      type: 'object',
      additionalProperties: { type: 'integer', minimum: 0, maximum: 65_535 },
      propertyNames: { pattern: '^\\d{1,5}$' },
      description:
        'Number in a mask → class, instead of `firstValue`; other numbers are ignored. For example {7: 0, 8: 1, 11: 2} for Cityscapes.',
    },
    maskNames: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        from: { type: 'string', default: '', description: 'The end of the names of images, without extension.' },
        to: { type: 'string', default: '', description: 'What replaces it in the names of masks.' },
      },
      description: 'How the name of a mask follows from that of its image. Default: the same name, with the extension .png.',
    },
    samples: {
      type: 'integer',
      minimum: 1,
      description: 'Number of images: the first by name of each folder, then the second, and so on. Default: all.',
    },
    optimization: OPTIMIZATION_SCHEMA,
  },
} as const;

export type EvaluateSegmentationParams = FromSchema<typeof EVALUATE_SEGMENTATION_PARAMS>;
