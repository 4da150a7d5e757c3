/** Declaration of `capture`: runs float models on data and stores their inputs and outputs. */
import { defineStage } from '../../src/stage/define-stage.js';
import { type Ports, port, recordPort } from '../../src/stage/ports.js';
import { CAPTURE_PARAMS, type CaptureParams } from './params.js';

export const capture = defineStage({
  name: 'capture',
  version: 1,
  description: 'Runs float models on a data set and stores their inputs and outputs: images, outputs, batches of RoIs of any size.',
  params: CAPTURE_PARAMS,
  inputs: portsOf,
  outputs: { captured: port('captured', 'An index, and one npz file per part and sample with inputs and outputs.') },
  determinism: 'exact',
  runsModels: 'always',
  spreads: 'parts',
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
      prepare: port(
        'onnx-model',
        'With images: a model that makes the inputs of `model` from the image, such as the part `prepare` of `split`.',
        {
          optional: true,
        },
      ),
    };
  }
  return {
    detector: recordPort('any', 'The float parts: one model per part of the host recipe, by part name.', { kind: 'onnx-model' }),
    recipe: port('recipe', 'Host recipe: how the host joins the parts.'),
    config: port('detector-config', 'Thresholds and counts; default: those of the recipe.', { optional: true }),
    ...data,
  };
}
