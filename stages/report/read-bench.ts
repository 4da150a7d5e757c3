/** Reads the parts of a `bench` report that the page needs. */
import { anyList, anyObject, constant, integer, number, openObject, text } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { BENCH_FORMAT } from '../../src/runtime/measure/bench-format.js';
import { parserOf } from './entries.js';

const MS = number({ minimum: 0 });

const LATENCY_SCHEMA = openObject({ minMs: MS, meanMs: MS, stdMs: MS, p50Ms: MS, p90Ms: MS, p99Ms: MS });

export type LatencyView = FromSchema<typeof LATENCY_SCHEMA>;

const STRATEGY_SCHEMA = openObject({ kind: text() }, { batch: number(), tiles: number(), sessions: number() });

export type BenchStrategy = FromSchema<typeof STRATEGY_SCHEMA>;

const ROW_SCHEMA = openObject({
  strategy: STRATEGY_SCHEMA,
  counts: anyList(
    openObject(
      { calls: integer(0), padded: integer(0, 'Rows of zeros that were computed.'), here: LATENCY_SCHEMA },
      { device: LATENCY_SCHEMA },
    ),
  ),
  perImageMs: MS,
});

export type BenchRow = FromSchema<typeof ROW_SCHEMA>;

const FORM_SCHEMA = openObject(
  { form: text(), rows: anyList(ROW_SCHEMA), best: integer(0, 'Index of the fastest row.') },
  { profile: openObject({ operators: anyList(openObject({ opType: text(), meanMs: MS })) }) },
);

export type BenchForm = FromSchema<typeof FORM_SCHEMA>;

const PART_SCHEMA = openObject(
  {
    part: text(),
    fed: text(),
    counts: anyList(openObject({ rows: integer(0), images: integer(0) }), 'Row counts that were timed; empty where the batch is fixed.'),
    forms: anyList(FORM_SCHEMA),
  },
  { speedup: number() },
);

export type BenchPart = FromSchema<typeof PART_SCHEMA>;

const BENCH_SCHEMA = openObject({
  format: constant(BENCH_FORMAT),
  where: anyObject(),
  warmup: integer(0),
  repeats: integer(0),
  parts: anyList(PART_SCHEMA),
});

/** Everything in it is measured. */
export type BenchView = FromSchema<typeof BENCH_SCHEMA>;

/** @throws StageError `report-input`. */
export const parseBench = parserOf(BENCH_SCHEMA, 'bench');
