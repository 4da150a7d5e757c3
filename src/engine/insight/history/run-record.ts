/** The run record of a build that did something: the request, the outcome, duration and metrics of each stage, and the gates. */

import { readJsonShape } from '../../../base/json/json-shape.js';
import type { Json } from '../../../base/json.js';
import {
  anyList,
  anyObject,
  anyText,
  flag,
  integer,
  mapOf,
  matching,
  number,
  object,
  oneOf,
  openObject,
  text,
  tuple,
} from '../../../base/schema/build-schema.js';
import { FIGURE_SCHEMA } from '../../../base/schema/figure-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';

/** A newer version may add fields, so objects of this file are open. */
const ASKED_SCHEMA = openObject({
  targets: anyList(text(), 'Names of stages and groups; empty means all.'),
  params: anyList(anyText(), '`-p` arguments as given.'),
  force: flag(),
  keepGoing: flag(),
  jobs: integer(1, 'Units of the cpu pool.'),
});

/** The request of the user. */
export type Asked = FromSchema<typeof ASKED_SCHEMA>;

const REVISION_SCHEMA = openObject(
  { commit: text('Hash of the commit: 40 or 64 hexadecimal digits.') },
  {
    branch: text(),
    edited: flag('Whether tracked files of the project differed from the commit; absent if git could not say.'),
  },
);

export type Revision = FromSchema<typeof REVISION_SCHEMA>;

/** What, start, duration; then name and answer of a part. */
const SPAN_SCHEMA = tuple(
  [
    oneOf(['look', 'wait', 'slot', 'hash', 'restore', 'run', 'part', 'collect', 'check', 'store', 'publish', 'back-off']),
    number(),
    number({ minimum: 0 }),
  ],
  [anyText(), oneOf(['kept', 'computed', 'dropped'])],
);

type StoredSpan = FromSchema<typeof SPAN_SCHEMA>;

/** Times are relative to the start of the build. */
export interface RunSpan {
  readonly what: StoredSpan[0];
  readonly atMs: number;
  readonly durationMs: number;
  readonly part?: { readonly name: string; readonly answer: NonNullable<StoredSpan[4]> } | undefined;
}

const STAGE_SCHEMA = openObject(
  {
    stage: text(),
    outcome: oneOf(['up-to-date', 'restored', 'executed', 'failed', 'skipped', 'cancelled']),
  },
  {
    key: text('The action whose result the stage had at the end; absent if it had none.'),
    reasons: anyList(anyText(), 'Why it ran, most important first.'),
    durationMs: number(
      { minimum: 0 },
      'Duration of the run that made the result. For a restored result it is the duration of the original run.',
    ),
    waitedMs: number({ minimum: 0 }, 'Time spent waiting for a slot.'),
    pools: anyList(text(), 'Named pools that the stage uses.'),
    attempts: integer(0),
    peakBytes: integer(0),
    metrics: mapOf(FIGURE_SCHEMA, { description: 'Headline metrics, and their differences from the baseline, by dotted path.' }),
    failure: object({ code: anyText(), message: anyText() }),
    because: anyText('Why it was skipped: the stage that failed.'),
    from: oneOf(['remote'], 'Where a restored result came from; absent for the local cache.'),
    spans: anyList(SPAN_SCHEMA),
  },
);

type StoredStage = FromSchema<typeof STAGE_SCHEMA>;

export type RunStage = Omit<StoredStage, 'spans'> & { readonly spans?: readonly RunSpan[] };

/** Readers keep the order of the fields, and a baseline has the same bytes whether its gates were read or checked now. */
export const GATE_SCHEMA = {
  type: 'object',
  required: ['stage', 'metric', 'operator', 'bound', 'verdict'],
  properties: {
    stage: text(),
    metric: text(),
    operator: oneOf(['>=', '<=', '>', '<', '==']),
    bound: number(),
    value: FIGURE_SCHEMA,
    verdict: oneOf(['met', 'missed']),
  },
} as const;

export type RunGate = FromSchema<typeof GATE_SCHEMA>;

const REMOTE_SCHEMA = openObject({
  hits: integer(0),
  misses: integer(0),
  uploads: integer(0, 'Number of results that went to the remote cache.'),
  downloadedBytes: integer(0),
  uploadedBytes: integer(0),
  savedMs: number({ minimum: 0 }, 'Time that the runs of the hits took where they ran.'),
  troubles: integer(0, 'Number of problems with the remote cache.'),
});

export type RunRemote = FromSchema<typeof REMOTE_SCHEMA>;

const RUN_SCHEMA = openObject(
  {
    run: matching(
      /^r[1-9]\d{0,14}$/,
      'the name of a run, for example "r41"',
      'Counted from 1 in this cache. Later runs have higher numbers.',
    ),
    started: text('ISO 8601, UTC.'),
    durationMs: number({ minimum: 0 }),
    asked: ASKED_SCHEMA,
    params: anyObject('The effective parameters of the pipeline.'),
    conclusion: oneOf(['built', 'gate-missed', 'not-reproduced', 'failed', 'cancelled']),
    stages: anyList(STAGE_SCHEMA, 'Stages that were not up to date, and stages with metrics, in the order of the plan.'),
    upToDate: integer(0, 'Number of stages that were up to date.'),
    gates: anyList(GATE_SCHEMA),
    criticalPath: anyList(text(), 'The chain of stages that determined the duration of the build.'),
  },
  {
    revision: REVISION_SCHEMA,
    remote: REMOTE_SCHEMA,
    droppedSpans: integer(0, 'Number of spans above the limit, which are not kept.'),
    spansLeftOut: integer(0, 'Former name of `droppedSpans`.'),
  },
);

type StoredRun = FromSchema<typeof RUN_SCHEMA>;

/** `revision` is the checked-out revision of the project's repository. */
export type RunRecord = Omit<StoredRun, 'stages' | 'spansLeftOut'> & { readonly stages: readonly RunStage[] };

/** The record as plain JSON. Spans are encoded as arrays, because there are many. */
export function encodeRun(run: RunRecord): StoredRun {
  const stages = run.stages.map(({ spans, ...stage }) => ({ ...stage, ...(spans === undefined ? {} : { spans: spans.map(encodeSpan) }) }));
  return { ...run, stages };
}

function encodeSpan({ what, atMs, durationMs, part }: RunSpan): StoredSpan {
  return part === undefined ? [what, atMs, durationMs] : [what, atMs, durationMs, part.name, part.answer];
}

const runReader = readerOf(RUN_SCHEMA);

/** Parses a record; undefined if `json` is malformed. Additional members written by a newer version are ignored. */
export function parseRun(json: Json): RunRecord | undefined {
  const result = readJsonShape(runReader, json);
  return result.kind === 'ok' ? decodeRun(result.value) : undefined;
}

function decodeRun({ spansLeftOut, droppedSpans = spansLeftOut, ...run }: StoredRun): RunRecord {
  const stages = run.stages.map(({ spans, ...stage }) => ({ ...stage, ...(spans === undefined ? {} : { spans: spans.map(decodeSpan) }) }));
  return { ...run, ...(droppedSpans === undefined ? {} : { droppedSpans }), stages };
}

function decodeSpan([what, atMs, durationMs, name, answer]: StoredSpan): RunSpan {
  return { what, atMs, durationMs, ...(name === undefined || answer === undefined ? {} : { part: { name, answer } }) };
}
