/** Records a build: observes its events, and makes its run record when it has ended. */
import type { Figure } from '../../../base/figure.js';
import { withoutUndefined } from '../../../base/json/without-undefined.js';
import type { JsonObject } from '../../../base/json.js';
import { dependenciesOf } from '../../model/dependencies.js';
import type { BuildEvent, Span } from '../../model/events.js';
import type { GateResult } from '../../model/gate-result.js';
import { flattenHeadlines } from '../../model/metrics.js';
import type { Plan, PlannedStage, StageId } from '../../model/plan.js';
import type { EnginePorts } from '../../model/ports.js';
import type { RemoteSummary } from '../../model/remote-summary.js';
import type { BuildReport } from '../../model/report.js';
import type { StageEnd } from '../../model/stage-end.js';
import { cancelled } from '../../model/stage-end.js';
import { findCriticalPath } from './find-critical-path.js';
import { findEdits } from './git-edits.js';
import { findRevision } from './git-revision.js';
import type { Asked, Revision, RunGate, RunRecord, RunRemote, RunSpan, RunStage } from './run-record.js';

export interface RunRecorder {
  /** The ports for the build. Events emitted there are recorded too. */
  readonly ports: EnginePorts;
  /** The record without its number; undefined if nothing changed, or the build was cancelled before it began. */
  finish(end: RunEnd): Promise<Omit<RunRecord, 'run'> | undefined>;
}

export interface RunEnd {
  readonly plan: Plan;
  readonly selected: readonly PlannedStage[];
  readonly ends: ReadonlyMap<StageId, StageEnd>;
  readonly gates: readonly GateResult[];
  readonly conclusion: BuildReport['conclusion'];
  readonly asked: Asked;
  readonly remote?: RemoteSummary | undefined;
}

interface StageEvents {
  reasons: readonly string[] | undefined;
  attempts: number;
  endedMs: number;
  peakBytes: number | undefined;
  waitedMs: number;
  readonly spans: RunSpan[];
}

/** Limits that keep the record of one build small. */
const MOST_SPANS = 20_000;
const MOST_REASONS = 5;
const LONGEST_TEXT = 500;
const MOST_METRICS = 500;

/** Shorter spans are not recorded. */
const SHORTEST_MS = 0.1;

/** @param startedMs start of the build, by `performance.now()`. */
export function recordRun(outer: EnginePorts, startedMs: number, { projectFolder, pipeline }: Plan): RunRecorder {
  const started = new Date(outer.nowMs() - (performance.now() - startedMs)).toISOString();
  const events = new Map<StageId, StageEvents>();
  let spans = 0;
  let droppedSpans = 0;
  let revision: Promise<Revision | undefined> | undefined;

  const of = (stage: StageId): StageEvents => {
    const known = events.get(stage);
    if (known !== undefined) return known;
    const fresh: StageEvents = { reasons: undefined, attempts: 0, endedMs: 0, peakBytes: undefined, waitedMs: 0, spans: [] };
    events.set(stage, fresh);
    return fresh;
  };
  const recordSpan = (stage: StageId, { what, startMs, endMs, part, peakBytes }: Span): void => {
    const one = of(stage);
    if (what === 'wait') one.waitedMs += endMs - startMs;
    if (peakBytes !== undefined && Number.isSafeInteger(peakBytes) && peakBytes > 0)
      one.peakBytes = Math.max(one.peakBytes ?? 0, peakBytes);
    if (endMs - startMs < SHORTEST_MS && what !== 'slot' && what !== 'run' && what !== 'part') return;
    if (spans >= MOST_SPANS) {
      droppedSpans += 1;
      return;
    }
    spans += 1;
    // Both ends are rounded, so that nested spans stay nested.
    const atMs = tenths(startMs - startedMs);
    one.spans.push({ what, atMs, durationMs: tenths(tenths(endMs - startedMs) - atMs), part });
  };
  const recordEvent = (event: BuildEvent): void => {
    if (event.kind === 'stage-started') {
      revision ??= describeRevision(projectFolder, pipeline);
      const one = of(event.stage);
      one.reasons = event.reasons.slice(0, MOST_REASONS).map(shorten);
      one.attempts = event.attempt;
    } else if (event.kind === 'span') recordSpan(event.stage, event);
    else if (event.kind === 'outcome') of(event.stage).endedMs = performance.now();
  };

  return {
    ports: {
      ...outer,
      emit(event) {
        recordEvent(event);
        outer.emit(event);
      },
    },
    async finish({ plan, selected, ends, gates, conclusion, asked, remote }) {
      const endOf = (stage: PlannedStage): StageEnd => ends.get(stage.id) ?? cancelled;
      const active = selected.filter(stage => endOf(stage).outcome.kind !== 'up-to-date');
      const began = active.some(stage => endOf(stage).outcome.kind !== 'cancelled' || (events.get(stage.id)?.attempts ?? 0) > 0);
      if (!began) return undefined;
      const listed = selected.filter(stage => endOf(stage).outcome.kind !== 'up-to-date' || endOf(stage).accepted?.metrics !== undefined);
      const ran = active.flatMap(stage => {
        const endedMs = events.get(stage.id)?.endedMs;
        return endedMs === undefined ? [] : [{ stage: stage.id, dependsOn: dependenciesOf(stage), endedMs }];
      });
      const durationMs = tenths(performance.now() - startedMs);
      return withoutUndefined({
        started,
        durationMs,
        asked,
        revision: await (revision ?? describeRevision(projectFolder, pipeline)),
        remote: remote === undefined ? undefined : encodeRemote(remote),
        params: plan.params,
        conclusion,
        stages: listed.map(stage => encodeStage(stage, endOf(stage), events.get(stage.id))),
        upToDate: selected.length - active.length,
        gates: gates.map(encodeGate),
        criticalPath: findCriticalPath(ran),
        droppedSpans: droppedSpans === 0 ? undefined : droppedSpans,
      });
    },
  };
}

function encodeStage({ id: stage, resources }: PlannedStage, { outcome, accepted }: StageEnd, events: StageEvents | undefined): RunStage {
  const ownMs = outcome.kind === 'executed' ? outcome.durationMs : accepted?.durationMs;
  const pools = Object.keys(resources).filter(pool => pool !== 'cpu');
  const details = outcome.kind === 'up-to-date' ? undefined : events;
  return withoutUndefined({
    stage,
    outcome: outcome.kind,
    key: accepted?.key,
    reasons: details?.reasons,
    durationMs: ownMs === undefined ? undefined : tenths(ownMs),
    waitedMs: details === undefined || details.waitedMs === 0 ? undefined : tenths(details.waitedMs),
    pools: details === undefined || pools.length === 0 ? undefined : pools,
    attempts: details === undefined || details.attempts === 0 ? undefined : details.attempts,
    peakBytes: details?.peakBytes,
    metrics: accepted?.metrics === undefined ? undefined : headlinesOf(accepted.metrics),
    failure: outcome.kind === 'failed' ? { code: outcome.failure.code, message: shorten(outcome.failure.message) } : undefined,
    because: outcome.kind === 'skipped' ? outcome.because : undefined,
    from: outcome.kind === 'restored' ? outcome.from : undefined,
    spans: details === undefined || details.spans.length === 0 ? undefined : details.spans,
  });
}

function encodeRemote({ hits, misses, uploads, downloadedBytes, uploadedBytes, savedMs, troubles }: RemoteSummary): RunRemote {
  return { hits, misses, uploads, downloadedBytes, uploadedBytes, savedMs: tenths(savedMs), troubles: troubles.length };
}

/** The revision when the first stage started: edits during the build belong to the next one. */
async function describeRevision(projectFolder: string, pipeline: string): Promise<Revision | undefined> {
  const revision = findRevision(projectFolder);
  if (revision === undefined) return undefined;
  const edited = await findEdits(projectFolder, pipeline);
  return { ...revision, ...(edited === undefined ? {} : { edited }) };
}

/** The metrics that tables show, their differences from the baseline, and their spreads. */
export function headlinesOf(metrics: JsonObject): Readonly<Record<string, Figure>> {
  return Object.fromEntries([...flattenHeadlines(metrics)].slice(0, MOST_METRICS));
}

export function encodeGate({ stage, gate, value, verdict }: GateResult): RunGate {
  const { metric, operator, bound } = gate;
  return withoutUndefined({ stage, metric, operator, bound, value, verdict });
}

function shorten(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`;
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
