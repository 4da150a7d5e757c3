/** The view "Runs": the history of builds, and several moments side by side. */
import { relative } from 'node:path';
import type { Figure } from '../../base/figure.js';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import {
  baselinePath,
  checkBaselineName,
  isBaselineName,
  listBaselines,
  readBaseline,
  writeBaseline,
} from '../../engine/insight/history/baseline.js';
import { listRunChanges } from '../../engine/insight/history/run-changes.js';
import { getRunIndex, isRunName } from '../../engine/insight/history/run-name.js';
import type { RunGate, RunRecord } from '../../engine/insight/history/run-record.js';
import { type Snapshot, snapshotAfter, snapshotNow } from '../../engine/insight/history/snapshot.js';
import type { Plan } from '../../engine/model/plan.js';
import { readRecord } from '../../engine/store/action-records.js';
import type { RunTimeline } from '../../report/views/pipeline-data.js';
import { RequestError } from '../http/read-body.js';
import type { ProjectState } from '../project/live-project.js';
import { viewTimeline } from './pipeline-view.js';

export interface RunsView {
  readonly version: number;
  /** Newest first. */
  readonly runs: readonly RunRow[];
  readonly baselines: readonly string[];
}

export interface RunRow extends Pick<RunRecord, 'run' | 'started' | 'durationMs' | 'conclusion' | 'params'> {
  /** What changed since the run before. */
  readonly changes: readonly string[];
  /** Figures by "stage.metric". Figures of stages that did not change are those of the run that made them. */
  readonly figures: Readonly<Record<string, Figure>>;
  readonly gates: { readonly met: number; readonly missed: number };
  readonly executed: number;
  readonly revision?: string;
  /** Tracked files differed from the revision. */
  readonly edited?: boolean;
}

const MOST_RUNS = 500;

export function viewRuns({ runs, plan, version }: ProjectState): RunsView {
  const known = new Map<string, Readonly<Record<string, Figure>>>();
  const rows: RunRow[] = runs.map((run, index) => {
    for (const { stage, metrics } of run.stages) if (metrics !== undefined) known.set(stage, metrics);
    return viewRun(run, runs[index - 1], known);
  });
  return { version, runs: rows.reverse().slice(0, MOST_RUNS), baselines: plan === undefined ? [] : listBaselines(plan) };
}

function viewRun(run: RunRecord, previous: RunRecord | undefined, known: ReadonlyMap<string, Readonly<Record<string, Figure>>>): RunRow {
  const { run: name, started, durationMs, conclusion, params, revision } = run;
  const figures = [...known].flatMap(([stage, metrics]) =>
    Object.entries(metrics).map(([metric, value]) => [`${stage}.${metric}`, value] as const),
  );
  return {
    run: name,
    started,
    durationMs,
    conclusion,
    params,
    changes: listRunChanges(run, previous),
    figures: Object.fromEntries(figures),
    gates: countGates(run.gates),
    executed: run.stages.filter(({ outcome }) => outcome === 'executed').length,
    ...(revision === undefined ? {} : { revision: revision.commit.slice(0, 10) }),
    ...(revision?.edited === undefined ? {} : { edited: revision.edited }),
  };
}

function countGates(gates: readonly RunGate[]): RunRow['gates'] {
  const missed = gates.filter(({ verdict }) => verdict === 'missed').length;
  return { met: gates.length - missed, missed };
}

/** Several moments side by side. */
export interface ComparisonView {
  readonly moments: readonly MomentView[];
}

export interface MomentView {
  readonly name: string;
  readonly params: JsonObject;
  readonly stages: Readonly<Record<string, MomentStage>>;
  readonly timeline?: RunTimeline;
  readonly notes: readonly string[];
  /** Of 'now': stages whose result no longer belongs to the present files. */
  readonly outdated: readonly string[];
}

export interface MomentStage {
  readonly params?: JsonObject;
  readonly metrics: Readonly<Record<string, Figure>>;
  readonly gates: readonly RunGate[];
}

const MOST_MOMENTS = 8;

/** @param names "r41", "last~1", "now" or "baseline:NAME". @throws RequestError; EngineError `no-such-run`, `baseline-malformed`. */
export function viewComparison(names: readonly string[], state: ProjectState, plan: Plan): ComparisonView {
  if (names.length === 0 || names.length > MOST_MOMENTS)
    throw new RequestError(400, 'ui-bad-request', `between 1 and ${MOST_MOMENTS} moments can be compared, not ${names.length}`);
  return { moments: names.map(name => viewMoment(name, state, plan)) };
}

function viewMoment(name: string, state: ProjectState, plan: Plan): MomentView {
  const index = isRunName(name) ? getRunIndex(state.runs, name) : undefined;
  const snapshot = findSnapshot(name, index, state, plan);
  if (snapshot === undefined) throw new RequestError(404, 'ui-not-found', `"${name}" is not a run, a baseline or now`);
  const run = index === undefined ? undefined : state.runs[index];
  const stages = [...snapshot.stages].map(([stage, { params, metrics, gates }]): [string, MomentStage] => [
    stage,
    { ...(params === undefined ? {} : { params }), metrics: metrics.kind === 'known' ? metrics.values : {}, gates },
  ]);
  const outdated =
    name === 'now' ? [...state.explained].filter(([, { status }]) => status.kind !== 'up-to-date').map(([stage]) => stage) : [];
  return {
    name: snapshot.name,
    params: snapshot.params ?? {},
    stages: Object.fromEntries(stages),
    ...(run === undefined ? {} : { timeline: viewTimeline(run) }),
    notes: snapshot.notes,
    outdated,
  };
}

/**
 * Saves a moment as a baseline. @returns the path of the file, relative to the project.
 * @throws RequestError; EngineError `bad-baseline-name`, `baseline-not-written`, `no-such-run`.
 */
export function saveBaseline({ of, name, replace }: BaselineOrder, state: ProjectState, plan: Plan): string {
  checkBaselineName(name);
  if (of.startsWith('baseline:')) throw new RequestError(400, 'ui-bad-request', 'a baseline is saved of a run or of now');
  if (listBaselines(plan).includes(name) && !replace)
    throw new RequestError(409, 'ui-baseline-exists', `the baseline ${name} exists`, 'replace it, or choose another name');
  const snapshot = findSnapshot(of, isRunName(of) ? getRunIndex(state.runs, of) : undefined, state, plan);
  if (snapshot === undefined) throw new RequestError(404, 'ui-not-found', `"${of}" is neither a run nor now`);
  const path = baselinePath(plan, name);
  writeBaseline(path, snapshot);
  return relative(plan.projectFolder, path);
}

export interface BaselineOrder {
  readonly of: string;
  readonly name: string;
  readonly replace: boolean;
}

function findSnapshot(name: string, index: number | undefined, state: ProjectState, plan: Plan): Snapshot | undefined {
  const { runs, accepted, cache } = state;
  const findParams = (key: string): JsonObject | undefined => {
    const record = readRecord(cache, key);
    const params: Json | undefined = record === undefined || record === 'damaged' ? undefined : record.manifest.params;
    return isJsonObject(params) ? params : undefined;
  };
  if (name === 'now') return snapshotNow(plan, accepted, runs.at(-1), findParams);
  if (index !== undefined) return snapshotAfter(runs, index, new Set(plan.stages.keys()), findParams);
  const baseline = /^baseline:(.+)$/.exec(name)?.[1];
  return baseline !== undefined && isBaselineName(baseline) ? readBaseline(baselinePath(plan, baseline), baseline) : undefined;
}
