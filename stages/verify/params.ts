/** Params of `verify`. */

import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { FIT_SCHEMA } from '../../src/detection/detector/fit-schema.js';
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import { RUNNER_SCHEMA } from '../../src/runtime/device/runner-params.js';
import { OPTIMIZATION_SCHEMA } from '../../src/runtime/session/session-params.js';
import type { StageJob } from '../../src/stage/define-stage.js';

const bound = (description: string, range: { readonly minimum?: number; readonly maximum?: number } = {}) =>
  ({
    anyOf: [
      { type: 'number', ...range },
      { type: 'object', additionalProperties: { type: 'number', ...range }, minProperties: 1 },
    ],
    description,
  }) as const;

const share = (description: string) => ({ type: 'number', minimum: 0, maximum: 1, description }) as const;

const form = <const Forms extends readonly string[]>(side: string, forms: Forms, more: string) =>
  ({
    type: 'string',
    enum: forms,
    default: 'parts',
    description: `The form of the ${side}. parts: a record of a detector's models, or with \`part\` the model of that part. whole: one model with all of their inputs and outputs. model: one model without a detector.${more}`,
  }) as const;

export const VERIFY_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    part: {
      type: 'string',
      minLength: 1,
      description:
        'Compare only this part: both sides are its model; with captured tensors, the captured part. Detections are not compared; a head needs the port `detector`.',
    },
    reference: form('reference', ['parts', 'whole', 'model', 'captured'], ' captured: captured tensors.'),
    candidate: form('candidate', ['parts', 'whole', 'model'], ''),
    values: {
      type: 'string',
      enum: ['outputs', 'all'],
      default: 'outputs',
      description: 'outputs: outputs of each part. all: also every inner value, with its propagated error, for the report.',
    },
    selection: {
      type: 'string',
      enum: ['own', 'reference'],
      default: 'own',
      description:
        'Which elements outputs behind TopK, NonMaxSuppression, ArgMax and NonZero hold when they are judged. own: each side those that it selects. reference: both those that the reference selects.',
    },
    ...RUNNER_SCHEMA,
    samples: {
      type: 'integer',
      minimum: 1,
      default: 4,
      description: 'Number of samples: the first images by id, files by name (from each folder in turn), or captured samples.',
    },
    images: {
      type: 'array',
      items: { type: 'integer' },
      minItems: 1,
      uniqueItems: true,
      description: 'Image ids, instead of `samples`.',
    },
    optimization: {
      ...OPTIMIZATION_SCHEMA,
      description:
        "ONNX Runtime's graph optimization level, on both sides. basic keeps the order of every sum, so that exact rewrites can be checked with `maxAbs: 0`.",
    },
    fit: FIT_SCHEMA,
    preprocess: PREPROCESSING_SCHEMA,
    matchIou: { ...share('Smallest box IoU at which two detections of one class match.'), default: 0.5 },
    minScore: {
      ...share('Detections below this score count neither as missed nor as extra; pairs of two such detections are ignored.'),
      default: 0,
    },
    thresholds: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description:
        'Bounds; the stage fails if one is missed. For values: a number, or an object by value name with `default` for the others.',
      properties: {
        minSqnrDb: bound('Smallest SQNR in dB of a value. Equal values meet every bound.'),
        minCosine: bound('Smallest cosine of a value.', { minimum: -1, maximum: 1 }),
        maxAbs: bound('Largest absolute difference of a value; 0: equal.', { minimum: 0 }),
        maxMissed: share('Largest share of the reference’s detections without a match.'),
        maxExtra: share('Largest share of the candidate’s detections without a match.'),
        maxScoreDifference: share('Largest score difference of a matched pair.'),
        minBoxIou: share('Smallest box IoU of a matched pair.'),
        minMaskIou: share('Smallest mask IoU of a matched pair.'),
      },
    },
  },
} as const;

/** `runner` applies to the candidate. */
export type VerifyParams = FromSchema<typeof VERIFY_PARAMS>;

export type SideForm = VerifyParams['reference'];

export type Thresholds = VerifyParams['thresholds'];

/** One bound for all values, or bounds by value name with `default` for the others: `{default: 20, class_logits: 30}`. */
export type Bound = NonNullable<Thresholds['minSqnrDb']>;

export type VerifyJob = StageJob<VerifyParams>;
