/** A sweep as a JSON document and as CSV. Equal results give equal bytes: there are no times in it. */
import type { Figure } from '../../../base/figure.js';
import type { Json } from '../../../base/json.js';
import { describeTarget } from '../../../engine/sweep/resolve-axis.js';
import type { Problem } from '../../../engine/sweep/sweep-rows.js';
import type { SweepDocument } from '../../../report/sweep-document.js';
import type { Sweep } from './sweep-report.js';

export function encodeSweep(sweep: Sweep): SweepDocument {
  const { pipeline, axes, objectives, rows } = sweep;
  const shown = shownFigures(sweep);
  return {
    pipeline,
    axes: axes.map(axis => ({ name: axis.name, sets: describeTarget(axis), values: axis.values.map(({ value }) => value) })),
    objectives: objectives.map(({ key, goal }) => ({ metric: key, goal })),
    configurations: rows.map(row => ({
      number: row.configuration.number,
      params: Object.fromEntries(axes.map(({ name }, index): [string, Json] => [name, row.configuration.values[index]?.value ?? null])),
      status: row.status,
      onFront: row.onFront,
      metrics: Object.fromEntries(shown.flatMap(key => namedFigure(row.figures, key))),
      ...(row.sizeBytes === undefined ? {} : { sizeBytes: row.sizeBytes }),
      gatesMissed: row.missed,
      problems: row.problems.map(encodeProblem),
    })),
  };
}

function namedFigure(figures: ReadonlyMap<string, Figure>, key: string): readonly (readonly [string, Figure])[] {
  const figure = figures.get(key);
  return figure === undefined ? [] : [[key, figure]];
}

/** A problem in the documents of `sweep` and `tune`. */
export function encodeProblem({ stage, code, message }: Problem): SweepDocument['configurations'][number]['problems'][number] {
  return { ...(stage === undefined ? {} : { stage }), code, message };
}

/** One line per configuration, in the order of the table; the first line names the columns (RFC 4180, lines end with LF). */
export function formatSweepCsv(sweep: Sweep): string {
  const { axes, rows } = sweep;
  const shown = shownFigures(sweep);
  const head = ['number', 'status', 'onFront', ...axes.map(({ name }) => name), ...shown, 'sizeBytes', 'problem'];
  const lines = rows.map(row => [
    row.configuration.number,
    row.status,
    row.onFront,
    ...row.configuration.values.map(({ label }) => label),
    ...shown.map(key => row.figures.get(key) ?? ''),
    row.sizeBytes ?? '',
    row.problems.map(({ stage, message }) => (stage === undefined ? message : `${stage}: ${message}`)).join('; '),
  ]);
  return [head, ...lines].map(line => `${line.map(cell => quote(String(cell))).join(',')}\n`).join('');
}

/** The figures that tables of metrics show, and the objectives. Figures of single values of a model stay in the stages' metrics. */
function shownFigures({ objectives, rows }: Sweep): readonly string[] {
  const wanted = new Set(objectives.map(({ key }) => key));
  const inOrder = [...rows].sort((a, b) => a.configuration.number - b.configuration.number);
  const keys = new Set(inOrder.flatMap(({ figures }) => [...figures.keys()]));
  return [...keys].filter(key => wanted.has(key) || rows.some(({ headlines }) => headlines.has(key)));
}

function quote(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
