/** Declaration of the `calibrate` plugin: sketches every activation of a float model over a data set. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import { CALIBRATE_PARAMS } from './params.js';

export const calibrate = defineStage({
  name: 'calibrate',
  version: 2,
  description: 'Sketches every activation of a model over a calibration set. Every range method can be computed from the sketches later.',
  params: CALIBRATE_PARAMS,
  inputs: {
    model: port('onnx-model', 'The float model to calibrate.'),
    captured: port('captured', 'Captured tensors, instead of data, recipe and detector.', { optional: true }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'The calibration set, in COCO layout.', { optional: true }),
    images: port('images', 'A folder of images, instead of `data`.', { optional: true }),
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
  spreads: 'parts',
  checkParams: ({ rois }) => (rois.min > rois.max ? [`rois.min is ${rois.min}, but rois.max is only ${rois.max}`] : []),
  run: async job => (await import('./run.js')).runCalibrate(job),
});
