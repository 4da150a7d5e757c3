/** Prints what `tune` has found: each trial, the best one, and the change of the pipeline file. */
import { stringify } from 'yaml';
import type { Figure } from '../../../base/figure.js';
import type { Json } from '../../../base/json.js';
import { formatBytes } from '../../../base/text/format.js';
import { SIZE } from '../../../engine/sweep/objectives.js';
import { type Axis, describeTarget } from '../../../engine/sweep/resolve-axis.js';
import { isBuilt, type SweepRow } from '../../../engine/sweep/sweep-rows.js';
import { type TuneGoal, violationOf } from '../../../engine/sweep/tune-goal.js';
import type { Trial } from '../../../engine/sweep/tune-search.js';
import type { TuneDocument } from '../../../report/tune-document.js';
import type { Console } from '../../terminal/console.js';
import { formatMetric } from '../format-metric.js';
import { encodeProblem } from './encode-sweep.js';

export interface TuneResult {
  readonly pipeline: string;
  readonly axes: readonly Axis[];
  readonly goal: TuneGoal;
  readonly trials: readonly Trial[];
  readonly best: Trial | undefined;
}

/** Name and value of each axis that the choice sets. */
function changesOf(
  axes: readonly Axis[],
  { choice }: Trial,
): readonly { readonly axis: Axis; readonly label: string; readonly value: Json }[] {
  return axes.flatMap((axis, index) => {
    const value = axis.values[choice[index] ?? -1];
    return value === undefined ? [] : [{ axis, ...value }];
  });
}

export function describeTrial(axes: readonly Axis[], goal: TuneGoal, trial: Trial): string {
  const changes = changesOf(axes, trial).map(({ axis, label }) => `${axis.name}=${label}`);
  const { row } = trial;
  const figures = [...goal.gates, goal.objective].map(({ metric, key }) => `${metric} ${figureOf(row, key)}`);
  const held = isBuilt(row) && violationOf(goal, row) > 0 ? ', gate missed' : '';
  const what = isBuilt(row)
    ? `${figures.join(', ')}${held}`
    : `${row.status}${row.problems.map(({ message }) => `: ${message.split('\n')[0]}`).slice(0, 1)}`;
  return `${changes.join(' ') || 'as the file says'}: ${what}`;
}

function figureOf({ figures, sizeBytes }: SweepRow, key: string): string {
  if (key === SIZE) return sizeBytes === undefined ? '–' : formatBytes(sizeBytes);
  const figure = figures.get(key);
  return figure === undefined ? '–' : formatMetric(figure);
}

/** What to write into the pipeline file; empty if the file is best as it is. Instances of a group cannot be set in the file by themselves. */
export function yamlChange(axes: readonly Axis[], best: Trial): string {
  const params: Record<string, Json> = {};
  const stages: Record<string, Json> = {};
  for (const { axis, value } of changesOf(axes, best)) {
    if (axis.kind === 'param') params[axis.param] = value;
    else setAt(stages, [axis.target, 'with', ...axis.path], value);
  }
  const change = { ...(Object.keys(params).length === 0 ? {} : { params }), ...(Object.keys(stages).length === 0 ? {} : { stages }) };
  return Object.keys(change).length === 0 ? '' : stringify(change);
}

function setAt(root: Record<string, Json>, path: readonly string[], value: Json): void {
  let inner = root;
  for (const key of path.slice(0, -1)) {
    const next: Record<string, Json> = { ...(inner[key] as Record<string, Json> | undefined) };
    inner[key] = next;
    inner = next;
  }
  inner[path.at(-1) ?? ''] = value;
}

export function printTuneResult({ axes, goal, trials, best }: TuneResult, end: string, console: Console): void {
  console.line('');
  const built = trials.filter(({ row }) => isBuilt(row)).length;
  console.line(`${built} of ${trials.length} configurations were built; ${end}`);
  if (best === undefined) {
    console.line(console.style('red', 'no configuration was built'));
    return;
  }
  const holds = violationOf(goal, best.row) === 0;
  console.line(
    console.style(
      holds ? 'bold' : 'red',
      `${holds ? 'best' : 'no configuration holds the gate; the closest'}: ${describeTrial(axes, goal, best)}`,
    ),
  );
  const change = yamlChange(axes, best);
  if (change === '') console.line('the pipeline file is best as it is');
  else {
    console.line('');
    console.line('set in the pipeline file (of a parameter, its default):');
    for (const line of change.trimEnd().split('\n')) console.line(`  ${line}`);
  }
}

export function encodeTuneResult({ pipeline, axes, goal, trials, best }: TuneResult): TuneDocument {
  const encode = (trial: Trial): TuneDocument['trials'][number] => ({
    number: trial.row.configuration.number,
    set: Object.fromEntries(changesOf(axes, trial).map(({ axis, value }) => [describeTarget(axis), value])),
    status: trial.row.status,
    figures: Object.fromEntries([...goal.gates, goal.objective].map(({ key }) => [key, jsonOf(trial.row, key)])),
    holds: violationOf(goal, trial.row) === 0,
    problems: trial.row.problems.map(encodeProblem),
  });
  return {
    pipeline,
    gates: goal.gates.map(({ key, operator, bound }) => ({ metric: key, operator, bound })),
    objective: { metric: goal.objective.key, goal: goal.objective.goal },
    best: best === undefined ? null : { ...encode(best), yaml: yamlChange(axes, best) },
    trials: trials.map(encode),
  };
}

function jsonOf({ figures, sizeBytes }: SweepRow, key: string): Figure | null {
  return (key === SIZE ? sizeBytes : figures.get(key)) ?? null;
}
