/** Declaration of the `refit-statistics` plugin: restores mean and deviation of each channel after an approximate rewrite. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { REFIT_STATISTICS_PARAMS } from './params.js';

export const refitStatistics = defineStage({
  name: 'refit-statistics',
  version: 1,
  description:
    'Scales and shifts the layers of a rewritten float model, so that mean and deviation of each channel are those before the rewrite.',
  params: REFIT_STATISTICS_PARAMS,
  inputs: {
    model: port('onnx-model', 'The float model after an approximate rewrite.'),
    reference: port('onnx-model', 'The float model before it.'),
    captured: port('captured', 'Samples of the inputs of both.'),
  },
  outputs: {
    model: port('onnx-model', 'The rewritten model with other weights and biases.'),
    report: port('report', 'Per layer how far its channels were from the reference; the SQNR of the outputs before and after.'),
  },
  determinism: 'exact',
  runsModels: 'always',
  run: async job => (await import('./run.js')).runRefitStatistics(job),
});
