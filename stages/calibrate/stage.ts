/** Declaration of the `calibrate` plugin: sketches every activation of a float model over a data set. */
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import type { CalibrateParams } from './params.js';

export const calibrate = defineStage<CalibrateParams>({
  name: 'calibrate',
  version: 2,
  description: 'Sketches every activation of a model over a calibration set. Every range method can be computed from the sketches later.',
  params: {
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
            description: 'Largest number of RoIs per image, in the order of the float detector.',
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
  },
  inputs: {
    model: port('onnx-model', 'The float model to calibrate.'),
    captured: port('captured', 'Captured tensors, instead of data, recipe and detector.', { optional: true }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'The calibration set, in COCO layout.', { optional: true }),
    images: port('images', 'A folder of images, instead of `data`.', { optional: true }),
    tensors: port('any', 'A .npz or .npy file, or a folder of these or of ONNX test data (input_0.pb), instead of `data`.', {
      optional: true,
    }),
    recipe: port('recipe', 'With images, for a part of a detector: the inputs of the part and the preprocessing.', {
      optional: true,
    }),
    detector: recordPort('any', 'The float parts that compute RoIs for heads: one model per part of the recipe, by name.', {
      kind: 'onnx-model',
      optional: true,
    }),
    config: port('detector-config', 'Thresholds and counts of the detector that gives RoIs; default: those of the recipe.', {
      optional: true,
    }),
  },
  outputs: {
    sketches: port('sketches', 'One sketch per activation, merged over all samples.'),
    report: port('report', 'Used samples, skipped samples with reasons, and the range of every activation.'),
  },
  determinism: 'exact',
  runsModels: 'always',
  checkParams: ({ rois }) => (rois.min > rois.max ? [`rois.min is ${rois.min}, but rois.max is only ${rois.max}`] : []),
  run: async job => (await import('./run.js')).runCalibrate(job),
});
