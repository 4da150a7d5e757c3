/** What may be set on `evaluate-classes`? */
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
  /** So many images, the first by name of each folder in turn; all where absent. */
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
        "Names in the order of the network's outputs. Needed where labels are names, or where folders are classes in another order than that of their names.",
    },
    output: { type: 'string', minLength: 1, description: 'The output with a score per class; the only one where absent.' },
    samples: { type: 'integer', minimum: 1, description: 'So many images, the first by name of each folder in turn; all where absent.' },
    optimization: {
      type: 'string',
      enum: ['disabled', 'basic', 'extended', 'all'],
      default: 'all',
      description: "ONNX Runtime's graph optimisation level.",
    },
  },
};
