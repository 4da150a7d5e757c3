/** What does `bench` take and give? Models in float and int8, and what was fed to them; how long they take, measured. */
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
    'Measures latency: float beside int8, per part and per operator; heads at the RoI counts seen, as one batch, in fixed batches, in parallel.',
  params: {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...RUNNER_SCHEMA,
      warmup: count(0, 3, 'Runs of each variant before any is timed.'),
      repeats: count(1, 20, 'Timed runs of each variant. The variants take turns, so that a drift of the clock hits all alike.'),
      threads: { type: 'integer', minimum: 1, maximum: 256, default: 1, description: 'Threads inside one operator, with runner: cpu.' },
      optimization: {
        type: 'string',
        enum: ['disabled', 'basic', 'extended', 'all'],
        default: 'all',
        description: "ONNX Runtime's graph optimisation level.",
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
        description: 'How many of the captured row counts are timed: medians of so many equal shares of the images.',
      },
      batches: {
        type: 'array',
        items: { type: 'integer', minimum: 1, maximum: 100_000 },
        uniqueItems: true,
        default: [1, 4, 16],
        description:
          'Fixed batches that models with a free batch are timed in; 1: one by one. The last batch of an image is filled with zeros.',
      },
      sessions: {
        type: 'integer',
        minimum: 0,
        maximum: 64,
        default: 2,
        description: "Sessions that share an image's rows and run in parallel, with runner: cpu; 0 leaves that out.",
      },
      operators: {
        type: 'boolean',
        default: true,
        description: "Times per operator and node too, by ONNX Runtime's profile, with runner: cpu.",
      },
    },
  },
  inputs: params => ({
    float: recordPort('any', 'Float models by part.', { kind: 'onnx-model', optional: true }),
    int8: recordPort('any', 'Quantized models by part.', { kind: 'onnx-model', optional: true }),
    captured: port('captured', 'What the parts were fed, and how many RoIs the images had.', { optional: true }),
    ...runnerPorts(params),
  }),
  outputs: {
    report: port('report', 'Every variant with its latency, and times per operator.'),
    metrics: port('metrics', 'Per part floatMs, int8Ms, speedup, of heads floatBestMs and int8BestMs too; and all figures per form.'),
  },
  determinism: 'measured',
  tools: runnerTools,
  device: runnerDevice,
  checkParams: checkRunnerParams,
  runsModels: 'always',
  run: async job => (await import('./run.js')).runBench(job),
});
