/** Declaration of the `sensitivity` plugin: says what each layer of a quantized model costs at its outputs. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { SENSITIVITY_PARAMS } from './params.js';

export const sensitivity = defineStage({
  name: 'sensitivity',
  version: 1,
  description: 'Ranks the layers of a quantized model by what they cost: their shares in the errors of its outputs on captured samples.',
  params: SENSITIVITY_PARAMS,
  inputs: {
    model: port('onnx-model', 'The QDQ model.'),
    float: port('onnx-model', 'The float model that was quantized.'),
    captured: port('captured', 'Samples of the inputs of both.'),
  },
  outputs: { report: port('report', 'Per layer its own error, its share in the error of each output, and the exact cost of the largest.') },
  determinism: 'exact',
  runsModels: 'always',
  spreads: 'parts',
  run: async job => (await import('./run.js')).runSensitivity(job),
});
