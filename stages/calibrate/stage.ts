/** What does `calibrate` take and give? A float model and data; sketches of every activation. */
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import type { CalibrateParams } from './params.js';

export const calibrate = defineStage<CalibrateParams>({
  name: 'calibrate',
  version: 2,
  description: 'Sketches every activation of a model over a calibration set: all that any choice of ranges needs later.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      part: {
        type: 'string',
        minLength: 1,
        description: 'The part of the detector that the model is; found by its input names where absent.',
      },
      samples: {
        type: 'integer',
        minimum: 1,
        description: 'The first so many images by id, files by name (of each folder in turn), captured samples; all where absent.',
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
            description: 'The first so many RoIs of an image, in the order of the float detector.',
          },
          min: { type: 'integer', minimum: 1, default: 1, description: 'Images with fewer RoIs are left out, and listed in the report.' },
        },
        description: 'For parts that take RoI features. Batches are as long as they are: never padded.',
      },
      preprocess: PREPROCESSING_SCHEMA,
      perChannel: { type: 'boolean', default: false, description: 'Keeps the least and greatest element of each channel (axis 1) too.' },
      compat: {
        type: 'string',
        enum: ['none', 'ort'],
        default: 'none',
        description:
          "ort: a second pass collects what onnxruntime.quantization's calibrators would, for the range methods ort-percentile, ort-entropy and ort-moving-average.",
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
              description: 'magnitudes: for symmetric percentiles. values: for asymmetric ones and entropy.',
            },
            bins: { type: 'integer', minimum: 2, maximum: 65536, description: 'Bins of every histogram.' },
          },
        },
        default: [
          { of: 'magnitudes', bins: 2048 },
          { of: 'values', bins: 2048 },
          { of: 'values', bins: 128 },
        ],
        description: "Where compat is ort: the histograms to collect. The default has the bins of its calibrators' defaults.",
      },
    },
  },
  inputs: {
    model: port('onnx-model', 'The float part to observe.'),
    captured: port('captured', 'Tensors that `capture` kept: instead of data, recipe and detector.', { optional: true }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'The calibration set, in COCO layout.', { optional: true }),
    images: port('images', 'A folder of images, instead of `data`.', { optional: true }),
    tensors: port('any', 'A .npz or .npy file, or a folder of these or of ONNX test data (input_0.pb), instead of `data`.', {
      optional: true,
    }),
    recipe: port('recipe', 'With images, for a part of a detector: what the part takes, and how images are fitted to it.', {
      optional: true,
    }),
    detector: recordPort('any', 'The float parts that give RoIs to heads: one model per part of the recipe, by its name.', {
      kind: 'onnx-model',
      optional: true,
    }),
    config: port('detector-config', "Thresholds and counts of the detector that gives RoIs; the recipe's own where absent.", {
      optional: true,
    }),
  },
  outputs: {
    sketches: port('sketches', 'A sketch per activation, merged over all samples.'),
    report: port('report', 'Which samples went in, which were left out and why, and the range of every activation.'),
  },
  determinism: 'exact',
  runsModels: 'always',
  checkParams: ({ rois }) => (rois.min > rois.max ? [`rois.min is ${rois.min}, more than rois.max: ${rois.max}`] : []),
  run: async job => (await import('./run.js')).runCalibrate(job),
});
