/** The report of `bench`, which also `runner.py check --json` of a bundle writes: one schema for its writers and readers. */
import { assertNever } from '../../base/assert-never.js';
import {
  anyList,
  anyObject,
  anyOf,
  constant,
  integer,
  list,
  mapOf,
  number,
  oneOf,
  openObject,
  text,
} from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { PLACEMENT_SCHEMA } from '../device/runner-identity.js';
import { LATENCY_SCHEMA } from './latency.js';
import { MODEL_PROFILE_SCHEMA } from './profile.js';

export const BENCH_FORMAT = 'tanren-bench/1';

const FORM = oneOf(['float', 'int8'], 'int8: quantized to any integer types.');

export type Form = FromSchema<typeof FORM>;

const STRATEGY = anyOf(
  [
    openObject({ kind: constant('whole') }),
    openObject({ kind: constant('one-batch') }),
    openObject({ kind: constant('fixed'), batch: integer(1) }),
    openObject({ kind: constant('tiles'), tiles: integer(1) }),
    openObject({ kind: constant('parallel'), sessions: integer(1) }),
  ],
  'whole: the model with its fixed batch, once. one-batch: all rows of an image at once. fixed: batches of a fixed size, the last padded with zeros; batch 1 is one by one. tiles: canvases of that many rows, the last one partly filled. parallel: the rows divided evenly between parallel sessions.',
);

/** A way to run a model on an image's rows. */
export type Strategy = FromSchema<typeof STRATEGY>;

/** In words: "one by one". */
export function describeStrategy(strategy: Strategy): string {
  switch (strategy.kind) {
    case 'whole':
      return 'as a whole';
    case 'one-batch':
      return 'as one batch';
    case 'fixed':
      return strategy.batch === 1 ? 'one by one' : `in batches of ${strategy.batch}`;
    case 'tiles':
      return `on ${strategy.tiles} tiles`;
    case 'parallel':
      return `in ${strategy.sessions} sessions in parallel`;
    default:
      return assertNever(strategy);
  }
}

const COUNT_TIMES = openObject(
  { calls: integer(0), padded: integer(0, 'Rows of zeros that were computed.'), here: LATENCY_SCHEMA },
  { device: LATENCY_SCHEMA },
  '`here`: by the clock of the machine that runs the stage. `device`: by the clock of the device that ran the models.',
);

const STRATEGY_REPORT = openObject({
  strategy: STRATEGY,
  counts: list(COUNT_TIMES, 'One per row count; one for a fixed batch.'),
  perImageMs: number(
    { minimum: 0 },
    'p50, averaged over the images that the counts represent: by the clock of the device if there is one, else of this machine.',
  ),
});

export type StrategyReport = FromSchema<typeof STRATEGY_REPORT>;

const FORM_REPORT = openObject(
  {
    form: FORM,
    rows: list(STRATEGY_REPORT),
    best: integer(0, 'Index of the strategy with the smallest time per image.'),
    bestAt: anyList(integer(0), 'The same for each row count on its own.'),
  },
  { placement: PLACEMENT_SCHEMA, profile: MODEL_PROFILE_SCHEMA },
);

export type FormReport = FromSchema<typeof FORM_REPORT>;

const PART_REPORT = openObject(
  {
    part: text(),
    fed: oneOf(['captured', 'random', 'golden']),
    counts: anyList(
      openObject({ rows: integer(0), images: integer(0) }),
      'Timed row counts, and the number of images that each represents; empty for a fixed batch.',
    ),
    imagesWithout: integer(0, 'Images without a row for the part.'),
    forms: list(FORM_REPORT),
  },
  { speedup: number({ minimum: 0 }, 'p50 of float divided by p50 of int8, for the first strategy.') },
);

export type PartReport = FromSchema<typeof PART_REPORT>;

const CONDITIONS = openObject({
  processorMhz: number({ minimum: 0 }, 'Clock of the fastest processor, as the operating system reports it; 0 if it does not.'),
  loadAverage: number({ minimum: 0 }, 'Mean number of runnable threads in the last minute; 0 if the system has no such figure.'),
});

export type Conditions = FromSchema<typeof CONDITIONS>;

export const BENCH_REPORT_SCHEMA = openObject(
  {
    format: constant(BENCH_FORMAT),
    where: anyObject('The machine and libraries, or the identity of an external runner.'),
    warmup: integer(0),
    repeats: integer(1),
    parts: anyList(PART_REPORT),
  },
  {
    conditions: openObject({ before: CONDITIONS, after: CONDITIONS }, {}, 'On the machine that runs the stage.'),
    detector: openObject(
      { images: integer(1), steps: mapOf(LATENCY_SCHEMA) },
      { models: mapOf(LATENCY_SCHEMA) },
      'The whole detector on images, by its steps, and by the models that it runs with all their calls: only from a bundle.',
    ),
  },
);

/** Everything in it is measured. */
export type BenchReport = FromSchema<typeof BENCH_REPORT_SCHEMA>;

export const readBenchReport = readerOf(BENCH_REPORT_SCHEMA);
