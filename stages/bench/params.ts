/** Params of `bench`. */

import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { RUNNER_SCHEMA } from '../../src/runtime/device/runner-params.js';
import { OPTIMIZATION_SCHEMA } from '../../src/runtime/session/session-params.js';

const count = (minimum: number, preset: number, description: string) =>
  ({ type: 'integer', minimum, maximum: 100_000, default: preset, description }) as const;

export const BENCH_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...RUNNER_SCHEMA,
    warmup: count(0, 3, 'Warm-up runs of each variant.'),
    repeats: count(1, 20, 'Timed runs of each variant. The variants take turns, so that clock drift affects all of them equally.'),
    threads: { type: 'integer', minimum: 1, maximum: 256, default: 1, description: 'Threads inside one operator, with runner: cpu.' },
    optimization: OPTIMIZATION_SCHEMA,
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
} as const;

export type BenchParams = FromSchema<typeof BENCH_PARAMS>;
