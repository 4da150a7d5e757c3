/** Declaration of the `bench` plugin: measures the latency of float and int8 models. */
import { checkRunnerParams, RUNNER_SCHEMA, runnerDevice, runnerTools } from '../../src/runtime/device/runner-params.js';
import { defineStage } from '../../src/stage/define-stage.js';
import { port, recordPort } from '../../src/stage/ports.js';
import { runnerPorts } from '../../src/stage/runner-port.js';
import type { BenchParams } from './params.js';

const count = (minimum: number, preset: number, description: string) => ({
  type: 'integer',
  minimum,
  maximum: 100_000,
  default: preset,
  description,
});

export const bench = defineStage<BenchParams>({
  name: 'bench',
  version: 1,
  description:
    'Measures latency of float and int8 models, per part and per operator; heads at the captured RoI counts, as one batch, in fixed batches, in parallel.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...RUNNER_SCHEMA,
      warmup: count(0, 3, 'Warm-up runs of each variant.'),
      repeats: count(1, 20, 'Timed runs of each variant. The variants take turns, so that clock drift affects all of them equally.'),
      threads: { type: 'integer', minimum: 1, maximum: 256, default: 1, description: 'Threads inside one operator, with runner: cpu.' },
      optimization: {
        type: 'string',
        enum: ['disabled', 'basic', 'extended', 'all'],
        default: 'all',
        description: "ONNX Runtime's graph optimization level.",
      },
      rois: {
        type: 'array',
        items: { type: 'integer', minimum: 1, maximum: 100_000 },
        minItems: 1,
        description: 'Row counts per image at which models with a free batch are timed, instead of those of `captured`.',
      },
      counts: {
        type: 'integer',
        minimum: 1,
        maximum: 100,
        default: 3,
        description: 'Number of captured row counts to time: medians of that many equal shares of the images.',
      },
      batches: {
        type: 'array',
        items: { type: 'integer', minimum: 1, maximum: 100_000 },
        uniqueItems: true,
        default: [1, 4, 16],
        description:
          'Fixed batch sizes at which models with a free batch are timed; 1: one by one. The last batch of an image is padded with zeros.',
      },
      sessions: {
        type: 'integer',
        minimum: 0,
        maximum: 64,
        default: 2,
        description: "Sessions that share an image's rows and run in parallel, with runner: cpu; 0 skips this measurement.",
      },
      operators: {
        type: 'boolean',
        default: true,
        description: "Also measures times per operator and node with ONNX Runtime's profile, with runner: cpu.",
      },
    },
  },
  inputs: params => ({
    float: recordPort('any', 'Float models by part.', { kind: 'onnx-model', optional: true }),
    int8: recordPort('any', 'Quantized models by part.', { kind: 'onnx-model', optional: true }),
    captured: port('captured', 'Captured inputs of the parts, with the RoI counts of the images.', { optional: true }),
    ...runnerPorts(params),
  }),
  outputs: {
    report: port('report', 'Every variant with its latency, and times per operator.'),
    metrics: port('metrics', 'Per part floatMs, int8Ms and speedup; for heads also floatBestMs and int8BestMs; and all figures per form.'),
  },
  determinism: 'measured',
  tools: runnerTools,
  device: runnerDevice,
  checkParams: checkRunnerParams,
  runsModels: 'always',
  run: async job => (await import('./run.js')).runBench(job),
});
