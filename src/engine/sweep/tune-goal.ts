/** What `tune` looks for: bounds that must hold, then one figure that is as low or as high as possible. */
import { type Bound, holdsBound, parseBound } from '../../base/bound.js';
import { rankOf } from '../../base/figure.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import { findObjectives, type Goal, type Measured, type Objective, SIZE } from './objectives.js';
import { isBuilt, type SweepRow } from './sweep-rows.js';

export interface TuneGate extends Bound {
  readonly metric: string;
}

export interface TuneGoal {
  /** With the keys of their figures. An empty list: the gates of the pipeline file must hold. */
  readonly gates: readonly (TuneGate & { readonly key: string })[];
  readonly objective: Objective;
}

/** Parses "delta.bbox.AP >= -0.005"; any other form becomes a diagnostic. */
export function parseTuneGate(text: string, diagnostics: DiagnosticSink): TuneGate | undefined {
  const [, metric = '', rest = ''] = /^\s*([^\s<>=]+)\s*(.*)$/.exec(text) ?? [];
  const bound = parseBound(rest);
  if (bound !== undefined) return { metric, ...bound };
  const help = 'for example --gate "delta.bbox.AP >= -0.005"';
  diagnostics.error('bad-gate', undefined, `--gate ${text}: expected a metric, an operator and a number`, help);
  return undefined;
}

/** A metric without its first word may be found under `total`, as `compile` has it. A metric that no row has becomes a diagnostic. */
export function resolveTuneGoal(
  { gates, goal }: { readonly gates: readonly TuneGate[]; readonly goal: Goal },
  measured: Measured,
  diagnostics: DiagnosticSink,
): TuneGoal | undefined {
  const resolve = (one: Goal): Objective | undefined => findObjectives([inTotal(one, measured)], measured, diagnostics)[0];
  const resolved = gates.flatMap(gate => {
    const found = resolve({ metric: gate.metric, goal: 'maximize' });
    return found === undefined ? [] : [{ ...gate, key: found.key }];
  });
  const objective = resolve(goal);
  return objective === undefined || resolved.length < gates.length ? undefined : { gates: resolved, objective };
}

function inTotal(goal: Goal, { keys }: Measured): Goal {
  const ends = (metric: string): boolean => metric === SIZE || [...keys].some(key => key === metric || key.endsWith(`.${metric}`));
  const total = `total.${goal.metric}`;
  const isOwn = [...keys].some(key => key === goal.metric || key.replace(/^[^.]+\./, '') === goal.metric);
  return !isOwn && ends(total) ? { ...goal, metric: total } : goal;
}

/** How far the row is from holding the gates: 0 if it holds them, infinite if it was not built or has no figure for one. */
export function violationOf({ gates }: TuneGoal, row: SweepRow): number {
  if (gates.length === 0) return isBuilt(row) ? row.missed.length : Number.POSITIVE_INFINITY;
  return gates.reduce((sum, gate) => {
    const figure = row.figures.get(gate.key);
    if (figure === undefined) return Number.POSITIVE_INFINITY;
    const rank = rankOf(figure);
    // A strict bound may be missed by nothing.
    return holdsBound(rank, gate) ? sum : sum + Math.max(Math.abs(rank - gate.bound), Number.MIN_VALUE);
  }, 0);
}

/** First what holds the gates or comes closest, then the objective. */
export function isBetterRow(goal: TuneGoal, one: SweepRow, other: SweepRow): boolean {
  const [own, before] = [violationOf(goal, one), violationOf(goal, other)];
  if (own !== before) return own < before;
  return scoreOf(goal, one) > scoreOf(goal, other);
}

/** Higher is better; a row without the figure is last. */
function scoreOf({ objective: { key, goal } }: TuneGoal, { figures, sizeBytes }: SweepRow): number {
  const figure = key === SIZE ? sizeBytes : figures.get(key);
  if (figure === undefined) return Number.NEGATIVE_INFINITY;
  return goal === 'maximize' ? rankOf(figure) : -rankOf(figure);
}
