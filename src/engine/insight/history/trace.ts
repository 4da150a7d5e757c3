/** The timeline of a run: one row per slot with stages and their spans, and arrows along the critical path. */
import type { SpanKind } from '../../model/events.js';
import { assignLanes } from './lanes.js';
import type { RunRecord, RunSpan, RunStage } from './run-record.js';
import type { CompleteEvent, FlowEvent, Trace, TraceRow } from './trace-event.js';
import { makeComplete, nameRows, type RowGroup, rowAt } from './trace-rows.js';

/** The display names of spans within a stage. */
const WORDS: Readonly<Record<SpanKind, string>> = {
  look: 'look',
  wait: 'wait',
  slot: 'slot',
  hash: 'digest inputs',
  restore: 'restore',
  run: 'run',
  part: 'part',
  collect: 'digest outputs',
  check: 'check inputs again',
  store: 'store',
  publish: 'publish',
  'back-off': 'wait for the next try',
};

/** Spans with rows of their own. All other spans are nested in one of them. */
const OUTER: readonly (readonly [RowGroup, SpanKind])[] = [
  ['slots', 'slot'],
  ['looking', 'look'],
  ['waiting', 'wait'],
];

interface Piece {
  readonly stage: RunStage;
  readonly span: RunSpan;
}

/** The rows of the outer spans. */
type Places = ReadonlyMap<RunSpan, TraceRow>;

export function makeTrace(run: RunRecord): Trace {
  const pieces = run.stages.flatMap(stage => (stage.spans ?? []).map((span): Piece => ({ stage, span })));
  const whole = { name: `${run.run}: ${run.conclusion}`, cat: 'build', args: { asked: run.asked } };
  const { events: outer, places } = placeOuter(pieces, new Set(run.criticalPath));
  const inner = pieces.flatMap(piece => makeInner(piece, places));
  const events = [
    makeComplete(rowAt('build', 0), 0, run.durationMs, whole),
    ...outer,
    ...inner,
    ...makeParts(pieces, places),
    ...makeArrows(run, places),
  ];
  return {
    traceEvents: [...nameRows(events), ...events],
    displayTimeUnit: 'ms',
    otherData: { run: run.run, started: run.started, conclusion: run.conclusion },
  };
}

function placeOuter(
  pieces: readonly Piece[],
  critical: ReadonlySet<string>,
): { readonly events: readonly CompleteEvent[]; readonly places: Places } {
  const places = new Map<RunSpan, TraceRow>();
  const events: CompleteEvent[] = [];
  for (const [group, what] of OUTER) {
    const own = pieces.filter(({ span }) => span.what === what);
    const lanes = assignLanes(own.map(({ span }) => span));
    for (const [index, { stage, span }] of own.entries()) {
      const row = rowAt(group, lanes[index] ?? 0);
      const isCritical = critical.has(stage.stage);
      const args = { ...describe(stage), ...(isCritical ? { criticalPath: true } : {}) };
      places.set(span, row);
      const event = { name: stage.stage, cat: isCritical ? `${what},critical-path` : what, args };
      events.push(makeComplete(row, span.atMs, span.durationMs, event));
    }
  }
  return { events, places };
}

function describe({ outcome, reasons, pools, attempts, peakBytes, waitedMs }: RunStage): CompleteEvent['args'] {
  return { outcome, reasons, pools, attempts, peakBytes, waitedMs };
}

/** The second run of `--check` is in no slot of this timeline, so it is not shown. */
function makeInner({ stage, span }: Piece, places: Places): readonly CompleteEvent[] {
  if (places.has(span) || span.what === 'part') return [];
  const row = findRow(stage, span, places);
  const event = { name: WORDS[span.what], cat: span.what, args: { stage: stage.stage } };
  return row === undefined ? [] : [makeComplete(row, span.atMs, span.durationMs, event)];
}

/** The row of the stage's slot or check span that contains the span. */
function findRow({ spans = [] }: RunStage, span: RunSpan, places: Places): TraceRow | undefined {
  const outer = spans.find(one => one.what !== 'wait' && places.has(one) && liesWithin(span, one));
  return outer === undefined ? undefined : places.get(outer);
}

/** Far below the resolution of recorded times. */
const EPSILON_MS = 1e-6;

function liesWithin(span: RunSpan, outer: RunSpan): boolean {
  return span.atMs >= outer.atMs - EPSILON_MS && span.atMs + span.durationMs <= outer.atMs + outer.durationMs + EPSILON_MS;
}

/** Consecutive parts are nested in their run. Parts that overlap others get rows of their own. */
function makeParts(pieces: readonly Piece[], places: Places): readonly CompleteEvent[] {
  const parts = pieces.filter(({ span }) => span.what === 'part');
  const within: CompleteEvent[] = [];
  const beside: Piece[] = [];
  for (const stage of new Set(parts.map(part => part.stage))) {
    const own = parts.filter(part => part.stage === stage);
    const lanes = assignLanes(own.map(({ span }) => span));
    for (const [index, part] of own.entries()) {
      const run = stage.spans?.find(span => span.what === 'run' && liesWithin(part.span, span));
      const row = run === undefined ? undefined : findRow(stage, run, places);
      if (row !== undefined && lanes[index] === 0) within.push(makePart(row, part));
      else beside.push(part);
    }
  }
  const lanes = assignLanes(beside.map(({ span }) => span));
  return [...within, ...beside.map((part, index) => makePart(rowAt('parts', lanes[index] ?? 0), part))];
}

function makePart(row: TraceRow, { stage, span }: Piece): CompleteEvent {
  const { name = 'part', answer = 'dropped' } = span.part ?? {};
  return makeComplete(row, span.atMs, span.durationMs, { name, cat: `part,${answer}`, args: { stage: stage.stage, answer } });
}

/** Arrows from the end of each stage on the critical path to the start of the next. */
function makeArrows({ criticalPath, stages }: RunRecord, places: Places): readonly FlowEvent[] {
  const byName = new Map(stages.map(stage => [stage.stage, stage]));
  const steps = criticalPath.map(name => {
    const spans = byName.get(name)?.spans ?? [];
    const span = spans.findLast(one => one.what === 'slot') ?? spans.findLast(one => one.what === 'look');
    const row = span === undefined ? undefined : places.get(span);
    return span === undefined || row === undefined ? undefined : { span, row };
  });
  return steps.slice(1).flatMap((to, index): FlowEvent[] => {
    const from = steps[index];
    if (from === undefined || to === undefined) return [];
    const arrow = { name: 'critical path', cat: 'critical-path', id: index + 1 };
    const endMs = from.span.atMs + from.span.durationMs;
    return [
      // The arrow starts inside the event: at the very end it would belong to none.
      { ph: 's', ...arrow, ...from.row, ts: Math.max(Math.round(from.span.atMs * 1000), Math.round(endMs * 1000) - 1) },
      { ph: 'f', bp: 'e', ...arrow, ...to.row, ts: Math.round(to.span.atMs * 1000) },
    ];
  });
}
