/** Declaration of the `correct-biases` plugin: takes the mean error of each quantized layer out of its bias. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { CORRECT_BIASES_PARAMS } from './params.js';

export const correctBiases = defineStage({
  name: 'correct-biases',
  version: 1,
  description:
    'Corrects the biases of a quantized model by the mean errors of its layers on captured samples, where that lowers the error.',
  params: CORRECT_BIASES_PARAMS,
  inputs: ({ guard }) => ({
    model: port('onnx-model', 'The QDQ model.'),
    float: port('onnx-model', 'The float model that was quantized.'),
    captured: port('captured', 'Samples of the inputs of both.'),
    ...(guard === 'layers'
      ? {}
      : {
          recipe: port('recipe', 'Of a detector: its outputs are judged by kind of number (boxes, objectness, classes).', {
            optional: true,
          }),
          config: port('detector-config', 'Thresholds and counts; default: those of the recipe.', { optional: true }),
        }),
  }),
  outputs: {
    model: port('onnx-model', 'The QDQ model with corrected biases; all else is unchanged.'),
    report: port('report', 'Per layer the mean error and the SQNR before and after, and why a bias stays; the SQNR of the outputs.'),
  },
  determinism: 'exact',
  runsModels: 'always',
  run: async job => (await import('./run.js')).runCorrectBiases(job),
});
