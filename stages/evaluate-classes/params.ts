/** Params of `evaluate-classes`. */

import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import { RUNNER_SCHEMA } from '../../src/runtime/device/runner-params.js';
import { OPTIMIZATION_SCHEMA } from '../../src/runtime/session/session-params.js';

export const EVALUATE_CLASSES_PARAMS = {
  type: 'object',
  additionalProperties: false,
  required: ['preprocess'],
  properties: {
    ...RUNNER_SCHEMA,
    preprocess: PREPROCESSING_SCHEMA,
    classes: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 2,
      uniqueItems: true,
      description:
        "Class names in the order of the network's outputs. Required if labels are names, or if folders are classes and the classes are not sorted by name.",
    },
    output: { type: 'string', minLength: 1, description: 'The output with one score per class. Default: the only output.' },
    samples: {
      type: 'integer',
      minimum: 1,
      description: 'Number of images: the first by name of each folder, then the second, and so on. Default: all.',
    },
    optimization: OPTIMIZATION_SCHEMA,
  },
} as const;

export type EvaluateClassesParams = FromSchema<typeof EVALUATE_CLASSES_PARAMS>;
