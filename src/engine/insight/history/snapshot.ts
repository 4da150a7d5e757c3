/** Snapshots of a pipeline at one moment: its parameters and, for each stage, the params, metrics and gates of its result at that time. */
import type { Figure } from '../../../base/figure.js';
import type { JsonObject } from '../../../base/json.js';
import type { AcceptedStage } from '../../model/accepted-stage.js';
import { checkGate } from '../../model/gate-result.js';
import type { Plan } from '../../model/plan.js';
import { encodeGate, headlinesOf } from './record-run.js';
import type { RunGate, RunRecord, RunStage } from './run-record.js';

export interface Snapshot {
  /** The name in tables: "r41", "now", "baseline float", "3f2ab1c". */
  readonly name: string;
  /** The parameters of the pipeline; undefined if unknown. */
  readonly params: JsonObject | undefined;
  readonly stages: ReadonlyMap<string, StageSnapshot>;
  /** Whether a stage that is not in `stages` did not exist, or is unknown. */
  readonly others: 'absent' | 'unknown';
  /** Notes for the reader on the origin of the data. */
  readonly notes: readonly string[];
}

export interface StageSnapshot {
  /** Undefined if they are no longer known. */
  readonly params: JsonObject | undefined;
  readonly metrics: Metrics;
  readonly gates: readonly RunGate[];
}

export type Metrics =
  | { readonly kind: 'known'; readonly values: Readonly<Record<string, Figure>> }
  /** The stage has no metrics. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

/** The params of a kept action. */
export type FindParams = (key: string) => JsonObject | undefined;

/** The current results. The parameters are those of the newest run, which made the results. */
export function snapshotNow(
  plan: Plan,
  accepted: ReadonlyMap<string, AcceptedStage>,
  newest: RunRecord | undefined,
  findParams: FindParams,
): Snapshot {
  const stages = new Map<string, StageSnapshot>();
  for (const { id, gate } of plan.stages.values()) {
    const result = accepted.get(id);
    if (result === undefined) continue;
    const metrics = metricsOf(result.metrics === undefined ? undefined : headlinesOf(result.metrics));
    const gates = gate.map(one => encodeGate(checkGate(id, one, result.metrics)));
    stages.set(id, { params: findParams(result.key), metrics, gates });
  }
  return { name: 'now', params: newest?.params ?? plan.params, stages, others: 'absent', notes: [] };
}

/**
 * The results after a run: for each stage the newest that had been accepted by then.
 * @param known the stages of the plan. Other stages are included only if the run itself names them, because they may have been removed
 * long before.
 */
export function snapshotAfter(runs: readonly RunRecord[], index: number, known: ReadonlySet<string>, findParams: FindParams): Snapshot {
  const until = runs.slice(0, index + 1);
  const run = until.at(-1);
  const wanted = new Set([...known, ...(run?.stages.map(({ stage }) => stage) ?? [])]);
  const results = new Map<string, RunStage>();
  const gates = new Map<string, readonly RunGate[]>();
  for (const one of until) {
    for (const ended of one.stages) if (ended.key !== undefined && wanted.has(ended.stage)) results.set(ended.stage, ended);
    for (const stage of new Set(one.gates.map(gate => gate.stage)))
      gates.set(
        stage,
        one.gates.filter(gate => gate.stage === stage),
      );
  }
  const stages = new Map(
    [...results].map(([stage, { key, metrics }]): [string, StageSnapshot] => [
      stage,
      { params: key === undefined ? undefined : findParams(key), metrics: metricsOf(metrics), gates: gates.get(stage) ?? [] },
    ]),
  );
  const isComplete = until[0] === undefined || until[0].run === 'r1';
  return { name: run?.run ?? 'nothing', params: run?.params, stages, others: isComplete ? 'absent' : 'unknown', notes: [] };
}

function metricsOf(values: Readonly<Record<string, Figure>> | undefined): Metrics {
  return values === undefined ? { kind: 'none' } : { kind: 'known', values };
}
