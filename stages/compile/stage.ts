/** Declaration of the `compile` plugin: predicts the device of each node with reasons, estimates latency, and writes a deployment bundle. */
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import { COMPILE_PARAMS } from './params.js';

export const compile = defineStage({
  name: 'compile',
  version: 1,
  description:
    'Finds which nodes of quantized models an NPU can run and why not the others, cuts the models into parts, estimates latency, and writes a bundle.',
  params: COMPILE_PARAMS,
  inputs: {
    model: port('onnx-model', 'A quantized model, named "model". Either this or `models`.', { optional: true }),
    models: recordPort('any', 'Quantized models by name, for example the parts of a detector.', { optional: true, kind: 'onnx-model' }),
    profile: port('json', 'Your own target profile, instead of a built-in one.', { optional: true }),
    captured: port('captured', 'Captured tensors of parts with the names of the models: RoI counts, and inputs of golden values.', {
      optional: true,
    }),
    recipe: port('recipe', 'Host recipe of the detector whose parts `models` are: the bundle then runs the whole detector on the board.', {
      optional: true,
    }),
    measured: recordPort('any', 'For `place: auto`: reports of `bench`, `npu` of the device and `cpu` of the CPU beside it.', {
      optional: true,
      kind: 'report',
    }),
    config: port('detector-config', 'Thresholds, counts, mean and std; default: those of the recipe.', { optional: true }),
  },
  outputs: {
    report: port('report', 'Units with findings, parts, estimates.'),
    metrics: port(
      'metrics',
      'Per model and in total: nodes on NPU and CPU, parts, share of the multiply-accumulates on the NPU, estimated latency.',
    ),
    bundle: port('bundle', 'Deployment bundle: whole models, their parts, options, golden values, programs for the board, a manifest.'),
  },
  headlines: ({ target, device }) => [
    { metric: 'total.npuMacShare', label: 'share of the work on the NPU', unit: 'share' },
    {
      metric: 'total.estimatedMs',
      label: `time per image, estimate for ${[target, device].filter(name => name !== undefined).join(' ')}`,
      unit: 'ms',
    },
  ],
  determinism: 'exact',
  // ONNX Runtime folds constants and computes golden values.
  runsModels: 'always',
  run: async job => (await import('./run.js')).runCompile(job),
});
