/** Declaration of `evaluate-segmentation`: runs a segmentation network on images with masks and computes mIoU. */
import { checkRunnerParams, determinismOf, runnerDevice, runnerTools } from '../../src/runtime/device/runner-params.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { runnerPorts } from '../../src/stage/runner-port.js';
import { EVALUATE_SEGMENTATION_PARAMS } from './params.js';

export const evaluateSegmentation = defineStage({
  name: 'evaluate-segmentation',
  version: 1,
  description: 'Runs a semantic segmentation network on images with masks: mIoU, pixel accuracy, figures per class.',
  params: EVALUATE_SEGMENTATION_PARAMS,
  inputs: params => ({
    model: port('onnx-model', 'The network: takes an image, returns a score per class and pixel.'),
    images: port('images', 'A folder of images, also in subfolders.'),
    masks: port('images', 'A folder of PNG masks with a class number per pixel, at the size of the images.'),
    list: port('file', 'A text file with the names of the images that count, one a line.', { optional: true }),
    baseline: port('metrics', 'Metrics of another `evaluate-segmentation`; the metrics then include the differences.', { optional: true }),
    ...runnerPorts(params),
  }),
  outputs: {
    metrics: port('metrics', 'miou, pixelAccuracy, meanAccuracy, iou per class, images, pixels; delta with a baseline.'),
    report: port('json', 'Per class its pixels, IoU and accuracy, and the confusion counts.'),
  },
  headlines: [
    { metric: 'miou', label: 'mIoU' },
    { metric: 'pixelAccuracy', label: 'pixel accuracy', unit: 'share' },
  ],
  determinism: determinismOf,
  tools: runnerTools,
  device: runnerDevice,
  checkParams: checkRunnerParams,
  runsModels: 'always',
  spreads: 'parts',
  run: async job => (await import('./run.js')).runEvaluateSegmentation(job),
});
