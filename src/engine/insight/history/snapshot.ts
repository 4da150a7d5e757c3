/** What was known of a pipeline at one moment? Its parameters; and per stage the params, figures and gates of the result that it had then. */
import type { Figure } from '../../../base/figure.js';
import type { JsonObject } from '../../../base/json.js';
import type { AcceptedStage } from '../../model/accepted-stage.js';
import { checkGate } from '../../model/gate-result.js';
import type { Plan } from '../../model/plan.js';
import { encodeGate, headlinesOf } from './record-run.js';
import type { RunGate, RunRecord, RunStage } from './run-record.js';

export interface Snapshot {
  /** As tables call it: "r41", "now", "baseline float", "3f2ab1c". */
  readonly name: string;
  /** The pipeline's parameters; undefined where they are not known. */
  readonly params: JsonObject | undefined;
  readonly stages: ReadonlyMap<string, StageSnapshot>;
  /** A stage that is not in `stages`: did it not exist, or is nothing known of it? */
  readonly others: 'absent' | 'unknown';
  /** What a reader should know of where this comes from. */
  readonly notes: readonly string[];
}

export interface StageSnapshot {
  /** Undefined where they are not known any more. */
  readonly params: JsonObject | undefined;
  readonly metrics: Metrics;
  readonly gates: readonly RunGate[];
}

export type Metrics =
  | { readonly kind: 'known'; readonly values: Readonly<Record<string, Figure>> }
  /** The stage has no figures. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

/** The params that a kept action was made with. */
export type FindParams = (key: string) => JsonObject | undefined;

/** The results that stand now. The parameters are those of the newest run, as its results were made with them. */
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
 * The results that stood after a run: of each stage the newest that had been accepted until then.
 * @param known the stages of the plan; of others only what the run itself names is told, as they may have been taken out long before.
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
