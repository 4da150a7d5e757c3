/** Declaration of the `quantize` plugin: makes a QDQ model and a report from a float model and its sketches. */

import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { checkStageParams, QUANTIZE_STAGE_PARAMS } from './params.js';

export const quantize = defineStage({
  name: 'quantize',
  version: 1,
  description: 'Quantizes a float model to integers from its calibration sketches, without running it.',
  params: QUANTIZE_STAGE_PARAMS,
  inputs: {
    model: port('onnx-model', 'The float model.'),
    sketches: port('sketches', 'Calibration sketches of this model.'),
    overrides: port('json', 'Wider types that `widen-types` found: they are added to `overrides` and `exclude`, and win.', {
      optional: true,
    }),
  },
  outputs: {
    model: port('onnx-model', 'The QDQ model, with the inputs and outputs of the float model.'),
    report: port('report', 'Range, scale and zero point of every tensor, and the reasons for float nodes.'),
  },
  determinism: 'exact',
  runsModels: 'never',
  checkParams: checkStageParams,
  run: async job => (await import('./run.js')).runQuantize(job),
});
