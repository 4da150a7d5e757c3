/** Params of `evaluate-classes`. */
import type { Preprocessing } from '../../src/detection/image/preprocessing.js';
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import { RUNNER_SCHEMA, type RunnerParams } from '../../src/runtime/device/runner-params.js';
import type { SessionOptions } from '../../src/runtime/session/session.js';
import type { ParamsSchema } from '../../src/stage/define-stage.js';

export interface EvaluateClassesParams extends RunnerParams {
  readonly preprocess: Preprocessing;
  /** In the order of the network's outputs. */
  readonly classes?: readonly string[];
  /** The model's only output where absent. */
  readonly output?: string;
  /** Number of images: the first by name of each folder, then the second, and so on; all where absent. */
  readonly samples?: number;
  readonly optimization: SessionOptions['optimization'];
}

export const EVALUATE_CLASSES_PARAMS: ParamsSchema = {
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
        "Class names in the order of the network's outputs. Required where labels are names, or where folders are classes and the classes are not sorted by name.",
    },
    output: { type: 'string', minLength: 1, description: 'The output with a score per class; the only output where absent.' },
    samples: {
      type: 'integer',
      minimum: 1,
      description: 'Number of images: the first by name of each folder, then the second, and so on; all where absent.',
    },
    optimization: {
      type: 'string',
      enum: ['disabled', 'basic', 'extended', 'all'],
      default: 'all',
      description: "ONNX Runtime's graph optimization level.",
    },
  },
};
