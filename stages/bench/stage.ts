/** Declaration of the `bench` plugin: measures the latency of float and int8 models. */
import { checkRunnerParams, runnerDevice, runnerTools } from '../../src/runtime/device/runner-params.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import { runnerPorts } from '../../src/stage/runner-port.js';
import { BENCH_PARAMS } from './params.js';

export const bench = defineStage({
  name: 'bench',
  version: 1,
  description:
    'Measures latency of float and int8 models, per part and per operator; heads at the captured RoI counts, as one batch, in fixed batches, in parallel.',
  params: BENCH_PARAMS,
  inputs: params => ({
    float: recordPort('any', 'Float models by part.', { kind: 'onnx-model', optional: true }),
    int8: recordPort('any', 'Quantized models by part.', { kind: 'onnx-model', optional: true }),
    captured: port('captured', 'Captured inputs of the parts, with the RoI counts of the images.', { optional: true }),
    recipe: port('recipe', 'Host recipe with tiles: a model of its tiles is timed at the RoI counts of its part, with a call per canvas.', {
      optional: true,
    }),
    measured: port('json', 'Figures that `runner.py check --json` of a bundle measured on a board; the stage then measures nothing.', {
      optional: true,
    }),
    ...runnerPorts(params),
  }),
  outputs: {
    report: port('report', 'Every variant with its latency, and times per operator.'),
    metrics: port(
      'metrics',
      'Per part floatMs, int8Ms and speedup; for heads also floatBestMs and int8BestMs; and all figures per form. In total, per image. spread: how far repeats lie apart.',
    ),
  },
  headlines: ({ runner }) => [
    ...(['float', 'int8'] as const).map(form => ({
      metric: `total.${form}Ms`,
      label: `time per image, measured ${runner === 'external' ? 'on the device' : 'here'}, ${form}`,
      unit: 'ms' as const,
    })),
    { metric: 'perImage.total', label: 'time per image, measured on the board, detector', unit: 'ms' },
  ],
  determinism: 'measured',
  tools: runnerTools,
  device: runnerDevice,
  checkParams: checkRunnerParams,
  runsModels: 'always',
  run: async job => (await import('./run.js')).runBench(job),
});
