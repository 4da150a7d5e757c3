/** Declaration of `capture`: runs float models on data and stores their inputs and outputs. */
import { PREPROCESSING_SCHEMA } from '../../src/detection/image/preprocessing-schema.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { type Ports, port, recordPort } from '../../src/stage/ports.js';
import type { CaptureParams } from './params.js';

export const capture = defineStage<CaptureParams>({
  name: 'capture',
  version: 1,
  description: 'Runs float models on a data set and stores their inputs and outputs: images, outputs, batches of RoIs of any size.',
  params: {
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
          'Number of samples: the first images by id, or files by name (the first of each folder, then the second, and so on); all where absent.',
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
        description: "ONNX Runtime's graph optimization level.",
      },
    },
  },
  inputs: portsOf,
  outputs: { captured: port('captured', 'An index, and one npz file per part and sample with inputs and outputs.') },
  determinism: 'exact',
  runsModels: 'always',
  checkParams: ({ of, fit, preprocess }) => [
    ...(of === 'detector' && preprocess !== undefined
      ? ['`preprocess` needs `of: model`: for a detector, the host recipe defines how images are fitted']
      : []),
    ...(of === 'model' && fit !== undefined ? ['`fit` needs `of: detector`: set `preprocess` instead'] : []),
  ],
  run: async job => (await import('./run.js')).runCapture(job),
});

function portsOf({ of }: CaptureParams): Ports {
  const data = {
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'A data set in COCO format; its boxes are not used.', {
      optional: true,
    }),
    images: port('images', 'A folder of images, instead of `data`.', { optional: true }),
  };
  if (of === 'model') {
    return {
      model: port('onnx-model', 'The model to run.'),
      ...data,
      tensors: port('any', 'A .npz or .npy file, or a folder of these or of ONNX test data (input_0.pb), instead of `data`.', {
        optional: true,
      }),
    };
  }
  return {
    detector: recordPort('any', 'The float parts: one model per part of the host recipe, by part name.', { kind: 'onnx-model' }),
    recipe: port('recipe', 'Host recipe: how the host joins the parts.'),
    config: port('detector-config', "Thresholds and counts; the recipe's own where absent.", { optional: true }),
    ...data,
  };
}
