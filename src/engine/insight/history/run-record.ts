/** The run record of a build that did something: the request, the outcome, duration and metrics of each stage, and the gates. */
import { type Figure, readFigure } from '../../../base/figure.js';
import type { Json, JsonObject } from '../../../base/json.js';
import { isJsonObject } from '../../../base/json.js';
import type { JsonReader } from '../../../base/json-shape.js';
import {
  anyList,
  anyText,
  fields,
  flag,
  integer,
  literal,
  maybe,
  number,
  readJsonShape,
  record,
  someFields,
  text,
} from '../../../base/json-shape.js';
import type { PartAnswerKind, SpanKind } from '../../model/events.js';
import type { Gate } from '../../model/plan.js';
import type { BuildReport, StageReport } from '../../model/report.js';

export interface RunRecord {
  /** "r41": counted from 1 in this cache. Later runs have higher numbers. */
  readonly run: string;
  /** ISO 8601, UTC. */
  readonly started: string;
  readonly durationMs: number;
  readonly asked: Asked;
  /** The checked-out revision of the project's repository. Uncommitted changes are not recorded. */
  readonly revision?: Revision | undefined;
  /** The effective parameters of the pipeline. */
  readonly params: JsonObject;
  readonly conclusion: BuildReport['conclusion'];
  /** Stages that were not up to date, and stages with metrics, in the order of the plan. */
  readonly stages: readonly RunStage[];
  /** Number of stages that were up to date. */
  readonly upToDate: number;
  readonly gates: readonly RunGate[];
  /** The chain of stages that determined the duration of the build. */
  readonly criticalPath: readonly string[];
  /** Number of spans above the limit, which are not kept. */
  readonly spansLeftOut?: number | undefined;
}

/** The request of the user. */
export interface Asked {
  /** Names of stages and groups; empty means all. */
  readonly targets: readonly string[];
  /** `-p` arguments as given. */
  readonly params: readonly string[];
  readonly force: boolean;
  readonly keepGoing: boolean;
  /** Units of the cpu pool. */
  readonly jobs: number;
}

export interface Revision {
  /** Hash of the commit: 40 or 64 hexadecimal digits. */
  readonly commit: string;
  readonly branch?: string | undefined;
}

export interface RunStage {
  readonly stage: string;
  readonly outcome: StageReport['outcome']['kind'];
  /** The action whose result the stage had at the end; absent if it had none. */
  readonly key?: string | undefined;
  /** Why it ran, most important first. */
  readonly reasons?: readonly string[] | undefined;
  /** Duration of the run that made the result. For a restored result it is the duration of the original run. */
  readonly durationMs?: number | undefined;
  /** Time spent waiting for a slot. */
  readonly waitedMs?: number | undefined;
  /** Named pools that the stage uses. */
  readonly pools?: readonly string[] | undefined;
  readonly attempts?: number | undefined;
  readonly peakBytes?: number | undefined;
  /** Headline metrics, and their differences from the baseline, by dotted path. */
  readonly metrics?: Readonly<Record<string, Figure>> | undefined;
  readonly failure?: { readonly code: string; readonly message: string } | undefined;
  /** Why it was skipped: the stage that failed. */
  readonly because?: string | undefined;
  readonly spans?: readonly RunSpan[] | undefined;
}

/** Times are relative to the start of the build. */
export interface RunSpan {
  readonly what: SpanKind;
  readonly atMs: number;
  readonly durationMs: number;
  readonly part?: { readonly name: string; readonly answer: PartAnswerKind } | undefined;
}

export interface RunGate {
  readonly stage: string;
  readonly metric: string;
  readonly operator: Gate['operator'];
  readonly bound: number;
  readonly value?: Figure | undefined;
  readonly verdict: 'met' | 'missed';
}

/** The record as plain JSON. Spans are encoded as arrays, because there are many. */
export function encodeRun(run: RunRecord): object {
  const stages = run.stages.map(({ spans, ...stage }) => ({ ...stage, ...(spans === undefined ? {} : { spans: spans.map(encodeSpan) }) }));
  return { ...run, stages };
}

function encodeSpan({ what, atMs, durationMs, part }: RunSpan): Json {
  return part === undefined ? [what, atMs, durationMs] : [what, atMs, durationMs, part.name, part.answer];
}

/** Parses a record; undefined if `json` is malformed. Additional members written by a newer version are ignored. */
export function parseRun(json: Json): RunRecord | undefined {
  const result = readJsonShape(readRun, json);
  return result.kind === 'ok' ? result.value : undefined;
}

const anyName = (): undefined => undefined;

const anyObject: JsonReader<JsonObject> = (value, path, problems) => {
  if (value !== undefined && isJsonObject(value)) return value;
  problems.push({ path, message: 'should be an object' });
  return undefined;
};

const OUTCOMES = ['up-to-date', 'restored', 'executed', 'failed', 'skipped', 'cancelled'] as const;
const SPANS = ['look', 'wait', 'slot', 'hash', 'restore', 'run', 'part', 'collect', 'check', 'store', 'publish', 'back-off'] as const;
const ANSWERS = ['kept', 'computed', 'dropped'] as const;

const readSpan: JsonReader<RunSpan> = (value, path, problems) => {
  const [what, at, duration, name, answer] = Array.isArray(value) ? (value as readonly Json[]) : [];
  const kind = literal(...SPANS)(what, path, problems);
  const atMs = number()(at, path, problems);
  const durationMs = number({ min: 0 })(duration, path, problems);
  if (kind === undefined || atMs === undefined || durationMs === undefined) return undefined;
  if (name === undefined) return { what: kind, atMs, durationMs };
  const part = { name: anyText()(name, path, problems) ?? '', answer: literal(...ANSWERS)(answer, path, problems) ?? 'dropped' };
  return { what: kind, atMs, durationMs, part };
};

const readStage = someFields<RunStage>({
  stage: text(),
  outcome: literal(...OUTCOMES),
  key: maybe(text()),
  reasons: maybe(anyList(anyText())),
  durationMs: maybe(number({ min: 0 })),
  waitedMs: maybe(number({ min: 0 })),
  pools: maybe(anyList(text())),
  attempts: maybe(integer(0)),
  peakBytes: maybe(integer(0)),
  metrics: maybe(record(readFigure, anyName)),
  failure: maybe(fields({ code: anyText(), message: anyText() })),
  because: maybe(anyText()),
  spans: maybe(anyList(readSpan)),
});

export const readGate = someFields<RunGate>({
  stage: text(),
  metric: text(),
  operator: literal('>=', '<=', '>', '<', '=='),
  bound: number(),
  value: maybe(readFigure),
  verdict: literal('met', 'missed'),
});

const readRevision: JsonReader<Revision> = someFields<Revision>({ commit: text(), branch: maybe(text()) });

const readName: JsonReader<string> = (value, path, problems) => {
  if (typeof value === 'string' && /^r[1-9]\d{0,14}$/.test(value)) return value;
  problems.push({ path, message: 'should be such as "r41"' });
  return undefined;
};

const readRun = someFields<RunRecord>({
  run: readName,
  started: text(),
  durationMs: number({ min: 0 }),
  asked: someFields<Asked>({ targets: anyList(text()), params: anyList(anyText()), force: flag(), keepGoing: flag(), jobs: integer(1) }),
  revision: maybe(readRevision),
  params: anyObject,
  conclusion: literal('built', 'gate-missed', 'not-reproduced', 'failed', 'cancelled'),
  stages: anyList(readStage),
  upToDate: integer(0),
  gates: anyList(readGate),
  criticalPath: anyList(text()),
  spansLeftOut: maybe(integer(0)),
});
