/** What does `evaluate-classes` take and give? A classifier and labelled images; how often the right class is first, or among the first five. */
import { checkRunnerParams, determinismOf, runnerDevice, runnerTools } from '../../src/runtime/device/runner-params.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { runnerPorts } from '../../src/stage/runner-port.js';
import { EVALUATE_CLASSES_PARAMS, type EvaluateClassesParams } from './params.js';

export const evaluateClasses = defineStage<EvaluateClassesParams>({
  name: 'evaluate-classes',
  version: 1,
  description: 'Runs a classifier over labelled images: top-1 and top-5 accuracy, and what it said of every image.',
  params: EVALUATE_CLASSES_PARAMS,
  inputs: params => ({
    model: port('onnx-model', 'The classifier: an image in, a score per class out.'),
    images: port('images', 'A folder of images; without labels, with a folder per class.'),
    labels: port('file', 'A text file of lines "name label".', { optional: true }),
    baseline: port('metrics', 'Metrics of another `evaluate-classes`: ours then have the differences to them.', { optional: true }),
    ...runnerPorts(params),
  }),
  outputs: {
    metrics: port('metrics', 'top1, top5, images; delta where there is a baseline.'),
    predictions: port('json', 'Per image its label, the five best classes and their scores.'),
  },
  determinism: determinismOf,
  tools: runnerTools,
  device: runnerDevice,
  checkParams: checkRunnerParams,
  runsModels: 'always',
  run: async job => (await import('./run.js')).runEvaluateClasses(job),
});
