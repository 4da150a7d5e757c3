/** Declaration of the `search-ranges` plugin: finds the ranges of activations and weights with the least error of what each block computes. */
import { checkQuantizeParams } from '../../src/quant/settings/scheme-of.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port } from '../../src/stage/ports.js';
import { SEARCH_RANGES_PARAMS } from './params.js';

export const searchRanges = defineStage({
  name: 'search-ranges',
  version: 1,
  description:
    'Searches the ranges of activations and weights block by block, so that the error of what a block computes falls on captured samples.',
  params: SEARCH_RANGES_PARAMS,
  inputs: ({ guard }) => ({
    model: port('onnx-model', 'The float model.'),
    sketches: port('sketches', 'Calibration sketches of this model.'),
    captured: port('captured', 'Samples of its inputs.'),
    overrides: port('json', 'Wider types from `widen-types`. They are part of the result.', { optional: true }),
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
    overrides: port('json', 'The ranges, for the port `overrides` of `quantize`.'),
    report: port('report', 'Per block its error before and after, and the ranges that changed; the SQNR of the outputs.'),
  },
  determinism: 'exact',
  runsModels: 'always',
  checkParams: ({ quantize }) => checkQuantizeParams(quantize).map(problem => `quantize.${problem}`),
  run: async job => (await import('./run.js')).runSearchRanges(job),
});
