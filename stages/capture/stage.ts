/** What does `capture` take and give? A float detector, or one model, and data; what went into every model and what came out, sample by sample. */
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { type Ports, port, recordPort } from '../../src/stage/ports.js';
import type { CaptureParams } from './params.js';

export const capture = defineStage<CaptureParams>({
  name: 'capture',
  version: 1,
  description: 'Runs float models over a data set and keeps what went in and what came out: images, outputs, ragged batches of RoIs.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      of: {
        type: 'string',
        enum: ['detector', 'model'],
        default: 'detector',
        description: 'What is run: a detector in its parts, or one model alone.',
      },
      samples: {
        type: 'integer',
        minimum: 1,
        description: 'The first so many images by id, files by name (of each folder in turn); all where absent.',
      },
      rois: {
        type: 'object',
        additionalProperties: false,
        default: {},
        properties: {
          max: { type: 'integer', minimum: 1, default: 50, description: 'The most RoIs of an image that are kept, for each head.' },
          keep: {
            type: 'string',
            enum: ['first', 'spread'],
            default: 'first',
            description: "Which, of more: the first in the detector's order, or so many spread evenly over it.",
          },
        },
        description: 'For the heads of a detector. Batches are as long as they are: never padded.',
      },
      fit: {
        type: 'string',
        enum: ['static', 'torchvision'],
        description: "How images are fitted to the detector's input; the recipe's policy where absent.",
      },
      preprocess: PREPROCESSING_SCHEMA,
      optimization: {
        type: 'string',
        enum: ['disabled', 'basic', 'extended', 'all'],
        default: 'all',
        description: "ONNX Runtime's graph optimisation level.",
      },
    },
  },
  inputs: portsOf,
  outputs: { captured: port('captured', 'An index, and per part and sample an npz file with inputs and outputs.') },
  determinism: 'exact',
  runsModels: 'always',
  checkParams: ({ of, fit, preprocess }) => [
    ...(of === 'detector' && preprocess !== undefined
      ? ["`preprocess` is for `of: model`: a detector's recipe says how images are fitted"]
      : []),
    ...(of === 'model' && fit !== undefined ? ['`fit` is for `of: detector`: set `preprocess` instead'] : []),
  ],
  run: async job => (await import('./run.js')).runCapture(job),
});

function portsOf({ of }: CaptureParams): Ports {
  const data = {
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'A data set in COCO layout; its boxes are not used.', {
      optional: true,
    }),
    images: port('images', 'A folder of images, instead of `data`.', { optional: true }),
  };
  if (of === 'model') {
    return {
      model: port('onnx-model', 'The model that is run.'),
      ...data,
      tensors: port('any', 'A .npz or .npy file, or a folder of these or of ONNX test data (input_0.pb), instead of `data`.', {
        optional: true,
      }),
    };
  }
  return {
    detector: recordPort('any', 'The float parts: one model per part of the recipe, by its name.', { kind: 'onnx-model' }),
    recipe: port('recipe', 'How the host joins them.'),
    config: port('detector-config', "Thresholds and counts; the recipe's own where absent.", { optional: true }),
    ...data,
  };
}
