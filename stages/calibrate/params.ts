/** Params of `calibrate`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';

export const CALIBRATE_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    part: {
      type: 'string',
      minLength: 1,
      description: 'The part of the detector that the model is; default: found by its input names.',
    },
    samples: {
      type: 'integer',
      minimum: 1,
      description:
        'Number of samples: the first images by id, files by name (from each folder in turn), or captured samples; default: all.',
    },
    rois: {
      type: 'object',
      additionalProperties: false,
      default: {},
      properties: {
        max: {
          type: 'integer',
          minimum: 1,
          default: 50,
          description:
            'Largest number of RoIs per image, in the order of the float detector: proposals for the box head, detected boxes for the mask head.',
        },
        min: { type: 'integer', minimum: 1, default: 1, description: 'Images with fewer RoIs are skipped and listed in the report.' },
      },
      description: 'For parts that take RoI features. Batches have their real length and are never padded.',
    },
    preprocess: PREPROCESSING_SCHEMA,
    perChannel: { type: 'boolean', default: false, description: 'Also keeps minimum and maximum of each channel (axis 1).' },
    compat: {
      type: 'string',
      enum: ['none', 'ort'],
      default: 'none',
      description:
        "ort: a second pass collects the data of onnxruntime.quantization's calibrators, for the range methods ort-percentile, ort-entropy and ort-moving-average.",
    },
    ortHistograms: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['of', 'bins'],
        properties: {
          of: {
            type: 'string',
            enum: ['magnitudes', 'values'],
            description: 'magnitudes: for symmetric percentiles. values: for asymmetric percentiles and entropy.',
          },
          bins: { type: 'integer', minimum: 2, maximum: 65536, description: 'Number of bins.' },
        },
      },
      default: [
        { of: 'magnitudes', bins: 2048 },
        { of: 'values', bins: 2048 },
        { of: 'values', bins: 128 },
      ],
      description: "With compat: ort, the histograms to collect. Default: those of its calibrators' defaults.",
    },
  },
} as const;

export type CalibrateParams = FromSchema<typeof CALIBRATE_PARAMS>;
