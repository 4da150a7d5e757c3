/** Declaration of `widen-types`: finds the cheapest set of tensors in wider types that meets a constraint. */
import { checkQuantizeParams } from '../../src/quant/settings/scheme-of.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import { WIDEN_TYPES_PARAMS, type WidenTypesParams } from './params.js';

/** What detections, or figures of a gate, need. */
function gatePorts({ constraint: { gate, share }, judge }: WidenTypesParams) {
  if (gate === undefined && (share === undefined || judge === 'outputs')) return {};
  const needsBaseline = Object.keys(gate ?? {}).some(metric => metric.startsWith('delta.'));
  return {
    recipe: port('recipe', 'Host recipe: how the host joins the parts.'),
    config: port('detector-config', 'Thresholds, counts, mean and std; default: those of the recipe.', { optional: true }),
    data: recordPort({ annotations: 'annotations', images: 'images' }, 'Images, and their annotations.'),
    parts: recordPort('any', 'The other parts of the detector, as they are deployed.', { kind: 'onnx-model', optional: true }),
    ...(needsBaseline ? { baseline: port('metrics', 'Metrics of an `evaluate` of the float detector on the same images.') } : {}),
  };
}

export const widenTypes = defineStage({
  name: 'widen-types',
  version: 1,
  description: 'Finds the cheapest set of tensors in wider types that meets a constraint: an SQNR, a gate, or a share of the cost.',
  params: WIDEN_TYPES_PARAMS,
  inputs: params => ({
    model: port('onnx-model', 'The float model.'),
    sketches: port('sketches', 'Calibration sketches of this model.'),
    captured: port('captured', 'Samples of its inputs.'),
    profile: port('json', 'A target profile of your own.', { optional: true }),
    ...gatePorts(params),
  }),
  outputs: {
    overrides: port('json', 'The wider types, for the port `overrides` of `quantize`.'),
    report: port('report', 'Figures without, with, and with all wider types, and what each one of the set is needed for.'),
    metrics: port('metrics', 'Number and shares of the wider tensors, and what the set reaches.'),
  },
  determinism: 'exact',
  runsModels: 'always',
  checkParams: ({ quantize }) => checkQuantizeParams(quantize).map(problem => `quantize.${problem}`),
  run: async job => (await import('./run.js')).runWidenTypes(job),
});
