/** Compares two snapshots of a pipeline: parameters, params of stages, metrics and gates. */
import type { Figure } from '../../../base/figure.js';
import type { JsonObject } from '../../../base/json.js';
import { type Change, findChanges } from '../../action/changes.js';
import { isOwnFigure } from '../../model/metrics.js';
import type { RunGate } from './run-record.js';
import type { Metrics, Snapshot, StageSnapshot } from './snapshot.js';

export interface SnapshotDifference {
  readonly before: string;
  readonly after: string;
  readonly params: readonly Change[];
  readonly stages: readonly StageDifference[];
  readonly notes: readonly string[];
}

export interface StageDifference {
  readonly stage: string;
  /** 'new' and 'removed': the stage has a result on one side only. */
  readonly presence: 'both' | 'new' | 'removed';
  /** Set if the current result no longer belongs to the present files and parameters. */
  readonly outdated?: boolean;
  readonly params: readonly Change[];
  readonly metrics: readonly MetricDifference[];
  readonly gates: readonly GateDifference[];
  /** For a stage on both sides: what is unknown, and on which side. */
  readonly unknown: readonly { readonly what: 'params' | 'metrics'; readonly side: string }[];
}

/** A side is undefined if it lacks the metric. */
export interface MetricDifference {
  readonly metric: string;
  readonly before: Figure | undefined;
  readonly after: Figure | undefined;
  /** The spreads of both sides together, for measured figures. */
  readonly spread?: number;
}

export interface GateDifference {
  readonly metric: string;
  readonly before: RunGate | undefined;
  readonly after: RunGate | undefined;
}

/** @param show 'changed': omits rows and stages without a change. @param wanted selects the stages to compare. */
export function compareSnapshots(
  before: Snapshot,
  after: Snapshot,
  show: 'changed' | 'all',
  wanted: (stage: string) => boolean,
): SnapshotDifference {
  const names = [...new Set([...after.stages.keys(), ...before.stages.keys()])].filter(wanted);
  const stages = names.map(stage => compareStage(stage, before, after, show)).filter(stage => show === 'all' || hasChange(stage));
  return {
    before: before.name,
    after: after.name,
    params: before.params === undefined || after.params === undefined ? [] : changesOf(before.params, after.params, show),
    stages,
    notes: [...before.notes, ...after.notes],
  };
}

function hasChange({ presence, params, metrics, gates, unknown }: StageDifference): boolean {
  const hasDifferences = params.length + metrics.length + gates.length > 0 || unknown.some(({ what }) => what === 'metrics');
  return presence !== 'both' || hasDifferences;
}

const nothingKnown: StageSnapshot = { params: undefined, metrics: { kind: 'unknown' }, gates: [] };

function compareStage(stage: string, before: Snapshot, after: Snapshot, show: 'changed' | 'all'): StageDifference {
  const find = (side: Snapshot): StageSnapshot | undefined =>
    side.stages.get(stage) ?? (side.others === 'unknown' ? nothingKnown : undefined);
  const [old, now] = [find(before), find(after)];
  if (old === undefined || now === undefined) {
    return {
      stage,
      presence: old === undefined ? 'new' : 'removed',
      params: [],
      metrics: compareMetrics(old, now, show),
      gates: [],
      unknown: [],
    };
  }
  const unknown: { what: 'params' | 'metrics'; side: string }[] = [];
  for (const [side, one, other] of [
    [before.name, old, now],
    [after.name, now, old],
  ] as const) {
    if (one.params === undefined && other.params !== undefined) unknown.push({ what: 'params', side });
    if (one.metrics.kind === 'unknown' && other.metrics.kind === 'known') unknown.push({ what: 'metrics', side });
  }
  return {
    stage,
    presence: 'both',
    params: old.params === undefined || now.params === undefined ? [] : findChanges(old.params, now.params),
    metrics: compareMetrics(old, now, show),
    // If the metrics of a side are unknown, no gate can be reported as added or removed.
    gates: unknown.some(({ what }) => what === 'metrics') ? [] : compareGates(old.gates, now.gates, show),
    unknown,
  };
}

function changesOf(before: JsonObject, after: JsonObject, show: 'changed' | 'all'): readonly Change[] {
  const changes = findChanges(before, after);
  if (show === 'changed') return changes;
  // A member that contains a change is covered by that change.
  const changed = new Set(changes.map(({ label }) => label.split('.')[0]));
  const same = Object.keys(after).filter(name => !changed.has(name));
  return [...changes, ...same.map(label => ({ label, before: after[label], after: after[label] }))].sort((a, b) =>
    a.label < b.label ? -1 : 1,
  );
}

function compareMetrics(
  before: StageSnapshot | undefined,
  after: StageSnapshot | undefined,
  show: 'changed' | 'all',
): readonly MetricDifference[] {
  const [old, now] = [valuesOf(before?.metrics), valuesOf(after?.metrics)];
  // Unknown metrics cannot be reported as different.
  const canDiffer = before?.metrics.kind !== 'unknown' && after?.metrics.kind !== 'unknown';
  const names = [...new Set([...now.keys(), ...old.keys()])].filter(isOwnFigure);
  return names
    .map(metric => ({ metric, before: old.get(metric), after: now.get(metric), ...spreadOf(`spread.${metric}`, old, now) }))
    .filter(row => show === 'all' || (canDiffer && row.before !== row.after));
}

function spreadOf(path: string, ...sides: readonly ReadonlyMap<string, Figure>[]): { readonly spread?: number } {
  const known = sides.flatMap(side => {
    const spread = side.get(path);
    return typeof spread === 'number' ? [spread] : [];
  });
  return known.length === 0 ? {} : { spread: known.reduce((sum, spread) => sum + spread, 0) };
}

function valuesOf(metrics: Metrics | undefined): ReadonlyMap<string, Figure> {
  return new Map(metrics?.kind === 'known' ? Object.entries(metrics.values) : []);
}

/** Gates are matched by metric, because bounds may change. Several gates on one metric are matched by position. */
function compareGates(before: readonly RunGate[], after: readonly RunGate[], show: 'changed' | 'all'): readonly GateDifference[] {
  const pairs: GateDifference[] = after.map((gate, index) => {
    const place = after.slice(0, index).filter(({ metric }) => metric === gate.metric).length;
    return { metric: gate.metric, before: before.filter(({ metric }) => metric === gate.metric)[place], after: gate };
  });
  const paired = new Set(pairs.map(pair => pair.before));
  for (const gate of before) if (!paired.has(gate)) pairs.push({ metric: gate.metric, before: gate, after: undefined });
  return pairs.filter(pair => show === 'all' || isOther(pair.before, pair.after));
}

function isOther(before: RunGate | undefined, after: RunGate | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  return (
    before.verdict !== after.verdict || before.operator !== after.operator || before.bound !== after.bound || before.value !== after.value
  );
}
