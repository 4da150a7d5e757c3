/** The conclusion of a build: its gates, its verdict, and its report. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { artifactName, artifactPath, fromProject } from '../model/artifact-path.js';
import type { CheckResult } from '../model/check-result.js';
import type { GateResult } from '../model/gate-result.js';
import { checkGate } from '../model/gate-result.js';
import { isLeftRemote } from '../model/outcome.js';
import type { Plan, PlannedStage, StageId } from '../model/plan.js';
import type { RemoteSummary } from '../model/remote-summary.js';
import type { BuildReport, LockVerdict, StageReport } from '../model/report.js';
import type { PartialResult, StageEnd } from '../model/stage-end.js';
import { cancelled } from '../model/stage-end.js';

export type StageEnds = ReadonlyMap<StageId, StageEnd>;

/** The ends of all stages of a plan. If newer plans arrived during the build, it is the last plan. */
export interface EndedBuild {
  readonly plan: Plan;
  readonly selected: readonly PlannedStage[];
  readonly ends: StageEnds;
  readonly checks: readonly CheckResult[];
  /** Compares a result with the lock. Defined only in a frozen build. */
  readonly verdictOf?: VerdictOf | undefined;
  readonly remote?: EndedRemote | undefined;
}

export interface EndedRemote {
  readonly summary: RemoteSummary;
  readonly need: 'optional' | 'required';
}

export type VerdictOf = (stage: StageId, accepted: NonNullable<StageEnd['accepted']>) => LockVerdict;

/** Checks every gate of every stage that has a result. */
export function checkGates(selected: readonly PlannedStage[], ends: StageEnds): readonly GateResult[] {
  return selected.flatMap(stage => {
    const accepted = stage.gate.length === 0 ? undefined : ends.get(stage.id)?.accepted;
    return accepted === undefined ? [] : stage.gate.map(gate => checkGate(stage.id, gate, accepted.metrics));
  });
}

/** Returns the worst result: cancelled, then failed, then a second run that differed, then a missed gate. */
export function concludeBuild(
  { ends, checks, remote }: Pick<EndedBuild, 'ends' | 'checks' | 'remote'>,
  gates: readonly GateResult[],
): BuildReport['conclusion'] {
  const kinds = new Set([...ends.values()].map(({ outcome }) => outcome.kind));
  if (kinds.has('cancelled') || checks.some(({ verdict }) => verdict === 'cancelled')) return 'cancelled';
  if (kinds.has('failed') || kinds.has('skipped')) return 'failed';
  if (remote?.need === 'required' && remote.summary.troubles.length + remote.summary.dropped.length > 0) return 'failed';
  if (checks.some(({ verdict }) => verdict === 'different' || verdict === 'failed')) return 'not-reproduced';
  return gates.some(({ verdict }) => verdict === 'missed') ? 'gate-missed' : 'built';
}

export function reportBuild(ended: EndedBuild, gates: readonly GateResult[], durationMs: number): BuildReport {
  const stages = new Map(ended.selected.map(stage => [stage.id, reportStage(ended, stage)]));
  const remote = ended.remote === undefined ? {} : { remote: ended.remote.summary };
  return { stages, gates, checks: ended.checks, durationMs, ...remote, conclusion: concludeBuild(ended, gates) };
}

function reportStage({ plan, ends, verdictOf }: EndedBuild, stage: PlannedStage): StageReport {
  const end = ends.get(stage.id) ?? cancelled;
  const outputs = Object.entries(end.accepted?.outputs ?? {});
  const published = isLeftRemote(end.outcome) ? [] : outputs;
  return {
    stage: stage.id,
    outcome: end.outcome,
    metrics: end.accepted?.metrics,
    previousMetrics: end.previousMetrics,
    locked: end.accepted === undefined ? undefined : verdictOf?.(stage.id, end.accepted),
    partial: end.partial === undefined ? undefined : reportPartial(plan, stage, end.partial),
    artifacts: Object.fromEntries(published.map(([port]) => [port, artifactPath(plan, stage, port)])),
    sizesBytes: Object.fromEntries(outputs.map(([port, { sizeBytes }]) => [port, sizeBytes])),
  };
}

function reportPartial(plan: Plan, stage: PlannedStage, { folder, without }: PartialResult): StageReport['partial'] {
  const paths = Object.keys(stage.outputPorts).map(port => [port, join(folder, artifactName(stage, port))] as const);
  const written = paths.filter(([, path]) => existsSync(path)).map(([port, path]) => [port, fromProject(plan, path)] as const);
  return { artifacts: Object.fromEntries(written), without };
}

/** Merges the ends under an older and a newer plan. A stage that was executed or restored under the older plan is reported so, not as up to date. */
export function mergeEnds(before: StageEnds, after: StageEnds): StageEnds {
  const merged = new Map(after);
  for (const [stage, end] of after) {
    const earlier = before.get(stage);
    const isDone = earlier?.outcome.kind === 'executed' || earlier?.outcome.kind === 'restored';
    if (isDone && end.outcome.kind === 'up-to-date') merged.set(stage, { ...earlier, accepted: end.accepted });
  }
  return merged;
}
