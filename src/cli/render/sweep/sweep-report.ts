/** Prints a sweep: one row per configuration, best first, with the Pareto front marked, and what went wrong. */
import { formatBytes } from '../../../base/text/format.js';
import { type Objective, SIZE } from '../../../engine/sweep/objectives.js';
import type { RankedRow } from '../../../engine/sweep/rank.js';
import { type Axis, describeTarget } from '../../../engine/sweep/resolve-axis.js';
import { isBuilt } from '../../../engine/sweep/sweep-rows.js';
import type { Console } from '../../terminal/console.js';
import { formatTable } from '../../terminal/text-table.js';
import { formatMetric } from '../format-metric.js';

export interface Sweep {
  readonly pipeline: string;
  readonly axes: readonly Axis[];
  readonly objectives: readonly Objective[];
  /** In the order of the table. */
  readonly rows: readonly RankedRow[];
}

const MISSING = '–';

export function printSweep({ axes, objectives, rows }: Sweep, console: Console): void {
  console.line('');
  const head = ['', ...axes.map(({ name }) => name), ...objectives.map(({ metric }) => metric), 'status'];
  const cells = rows.map(row => [
    row.onFront ? '*' : '',
    ...row.configuration.values.map(({ label }) => label),
    ...objectives.map(objective => cellOf(row, objective)),
    statusOf(row),
  ]);
  const [first = '', ...lines] = formatTable([head, ...cells]);
  console.line(console.style('bold', first));
  for (const line of lines) console.line(line);
  console.line('');
  for (const axis of axes) if (describeTarget(axis) !== axis.name) console.line(`${axis.name} sets ${describeTarget(axis)}`);
  if (objectives.length === 0) {
    if (rows.some(isBuilt)) console.line('no metric to compare: name one with --maximize or --minimize');
  } else {
    const goals = objectives.map(({ metric, goal }) => `${goal} ${metric}`).join(', ');
    console.line(`* no other row is as good in everything and better in something: ${goals}`);
  }
  for (const line of problemLines(rows)) console.line(console.style('red', line));
}

function cellOf(row: RankedRow, { key }: Objective): string {
  if (key === SIZE) return row.sizeBytes === undefined ? MISSING : formatBytes(row.sizeBytes);
  const figure = row.figures.get(key);
  return figure === undefined ? MISSING : formatMetric(figure);
}

function statusOf({ status, missed }: RankedRow): string {
  return status === 'gate-missed' ? `gate missed: ${missed.join(', ')}` : status;
}

/** Problems in the order of the configurations; each is printed once, with the configurations that have it. */
function problemLines(rows: readonly RankedRow[]): readonly string[] {
  const found = new Map<string, string[]>();
  const inOrder = [...rows].sort((a, b) => a.configuration.number - b.configuration.number);
  for (const { configuration, problems } of inOrder) {
    const label = configuration.values.map(({ label: text }) => text).join(', ');
    for (const { stage, code, message } of problems) {
      const [first = ''] = message.split('\n');
      const text = `error[${code}]: ${stage === undefined ? '' : `${stage}: `}${first}`;
      found.set(text, [...(found.get(text) ?? []), label]);
    }
  }
  return [...found].map(([text, labels]) => `${text} (${labels.join('; ')})`);
}
