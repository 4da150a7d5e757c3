/** Declaration of `evaluate-classes`: runs a classifier on labeled images and computes its accuracy. */
import { checkRunnerParams, determinismOf, runnerDevice, runnerTools } from '../../src/runtime/device/runner-params.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { runnerPorts } from '../../src/stage/runner-port.js';
import { EVALUATE_CLASSES_PARAMS } from './params.js';

export const evaluateClasses = defineStage({
  name: 'evaluate-classes',
  version: 1,
  description: 'Runs a classifier on labeled images: top-1 and top-5 accuracy, and the prediction for every image.',
  params: EVALUATE_CLASSES_PARAMS,
  inputs: params => ({
    model: port('onnx-model', 'The classifier: takes an image, returns a score per class.'),
    images: port('images', 'A folder of images; without labels, with one subfolder per class.'),
    labels: port('file', 'A text file of lines "name label".', { optional: true }),
    baseline: port('metrics', 'Metrics of another `evaluate-classes`; the metrics then include the differences.', { optional: true }),
    ...runnerPorts(params),
  }),
  outputs: {
    metrics: port('metrics', 'top1, top5, images; delta with a baseline.'),
    predictions: port('json', 'Per image: its label, the five best classes and their scores.'),
  },
  headlines: [
    { metric: 'top1', label: 'top-1 accuracy', unit: 'share' },
    { metric: 'top5', label: 'top-5 accuracy', unit: 'share' },
  ],
  determinism: determinismOf,
  tools: runnerTools,
  device: runnerDevice,
  checkParams: checkRunnerParams,
  runsModels: 'always',
  spreads: 'parts',
  run: async job => (await import('./run.js')).runEvaluateClasses(job),
});
