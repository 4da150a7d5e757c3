/** Declaration of the `round-weights` plugin: rounds the weights of each quantized layer so that the error of its output falls. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { ROUND_WEIGHTS_PARAMS } from './params.js';

export const roundWeights = defineStage({
  name: 'round-weights',
  version: 1,
  description:
    'Rounds the weights of a quantized model so that their errors cancel in the sums of each layer (GPTQ or AdaRound), where that lowers the error on captured samples.',
  params: ROUND_WEIGHTS_PARAMS,
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
    model: port('onnx-model', 'The QDQ model with other integers in its weights; all else is unchanged.'),
    report: port('report', 'Per layer the SQNR before and after, and why weights stay; the SQNR of the outputs.'),
  },
  determinism: 'exact',
  runsModels: 'always',
  run: async job => (await import('./run.js')).runRoundWeights(job),
});
