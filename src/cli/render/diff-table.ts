/** Formats the comparison of two snapshots: a block per stage with params, figures with their difference, and gates with their verdicts. */
import { differenceOf, type Figure } from '../../base/figure.js';
import { type Change, writeSides } from '../../engine/action/changes.js';
import type {
  GateDifference,
  MetricDifference,
  SnapshotDifference,
  StageDifference,
} from '../../engine/insight/history/compare-snapshots.js';
import type { RunGate } from '../../engine/insight/history/run-record.js';
import type { Console } from '../terminal/console.js';
import { columnWidths, formatRow } from '../terminal/text-table.js';
import { formatMetric, formatSigned, isWithin } from './format-metric.js';

type Row = readonly [name: string, before: string, after: string, difference: string];

interface Block {
  readonly head: string;
  readonly rows: readonly Row[];
}

export function formatDifference(difference: SnapshotDifference, { style }: Pick<Console, 'style'>): readonly string[] {
  const { before, after, params, stages, notes } = difference;
  const blocks: Block[] = [
    ...(params.length === 0 ? [] : [{ head: 'params', rows: params.map(rowOfParam) }]),
    ...stages.map(stage => ({ head: headOf(stage), rows: rowsOf(stage) })),
  ];
  const noteLines = notes.map(note => style('dim', `note: ${note}`));
  if (blocks.length === 0) return [`${before} and ${after}: no difference in params, metrics and gates`, ...noteLines];
  const title: Row = ['', before, after, ''];
  const widths = columnWidths([title, ...blocks.flatMap(({ rows }) => rows)]);
  const lines = blocks.flatMap(({ head, rows }) => [style('bold', head), ...rows.map(row => align(row, widths))]);
  return [style('dim', align(title, widths)), ...lines, ...(noteLines.length === 0 ? [] : ['', ...noteLines])];
}

function align(row: Row, widths: readonly number[]): string {
  return `  ${formatRow(row, widths)}`;
}

function headOf({ stage, presence, outdated }: StageDifference): string {
  return `${stage}${presence === 'both' ? '' : ` (${presence})`}${outdated === true ? ' (outdated)' : ''}`;
}

function rowsOf({ params, metrics, gates, unknown }: StageDifference): readonly Row[] {
  return [
    ...params.map(rowOfParam),
    ...metrics.map(rowOfMetric),
    ...gates.map(rowOfGate),
    ...unknown.map(({ what, side }): Row => [what === 'metrics' ? 'metrics' : 'params', `unknown for ${side}`, '', '']),
  ];
}

function rowOfParam({ label, before, after }: Change): Row {
  if (before === undefined) return [label, '', after === undefined ? '' : writeSides(after, after)[1], 'new'];
  if (after === undefined) return [label, writeSides(before, before)[0], '', 'removed'];
  const [from, to] = writeSides(before, after);
  return [label, from, to, ''];
}

function rowOfMetric({ metric, before, after, spread }: MetricDifference): Row {
  const difference = before === after ? undefined : findDifference(before, after);
  return [
    metric,
    before === undefined ? '' : formatMetric(before),
    after === undefined ? '' : formatMetric(after),
    difference === undefined
      ? ''
      : `${formatSigned(difference, Number(after))}${isWithin(before, after, spread) ? ', within the spread' : ''}`,
  ];
}

function findDifference(before: Figure | undefined, after: Figure | undefined): number | undefined {
  return before === undefined || after === undefined ? undefined : differenceOf(before, after);
}

/** The bound follows the name if it is the same on both sides. */
function rowOfGate({ metric, before, after }: GateDifference): Row {
  const bounds = [before, after].flatMap(gate => (gate === undefined ? [] : [`${gate.operator} ${gate.bound}`]));
  const isOne = new Set(bounds).size === 1;
  const side = (gate: RunGate | undefined): string => {
    if (gate === undefined) return '';
    const value = gate.value === undefined ? 'no such metric' : formatMetric(gate.value);
    return `${gate.verdict === 'met' ? '✓' : '✗'} ${value}${isOne ? '' : ` ${gate.operator} ${gate.bound}`}`;
  };
  const verdicts = before !== undefined && after !== undefined && before.verdict !== after.verdict ? `now ${after.verdict}` : '';
  return [`gate ${metric}${isOne ? ` ${bounds[0]}` : ''}`, side(before), side(after), verdicts];
}

/** The difference as JSON: stable names, no terminal text. */
export function encodeDifference({ stages, ...difference }: SnapshotDifference): unknown {
  const withDifference = (row: MetricDifference): unknown => ({
    ...row,
    difference: findDifference(row.before, row.after),
    ...(isWithin(row.before, row.after, row.spread) ? { withinSpread: true } : {}),
  });
  return { ...difference, stages: stages.map(stage => ({ ...stage, metrics: stage.metrics.map(withDifference) })) };
}
