/** The figures at the end of a build: the headlines of its plugins, and the first figures of plugins that declare none. */
import { EQUAL, type Figure } from '../../base/figure.js';
import type { PlannedStage } from '../../engine/model/plan.js';
import { withCheckedParams } from '../../stage/define-stage.js';
import type { Headline } from '../../stage/headline.js';
import { padEnd, widest } from '../terminal/display-width.js';
import { formatTable } from '../terminal/text-table.js';
import { wrapBehind } from '../terminal/wrap-text.js';
import { formatMetric } from './format-metric.js';
import { type FlatColumn, flatColumn, formatBlocks, formatCell, formatMetricsTable, type MetricsColumn } from './metrics-table.js';

/** The metrics of the stages of one plugin. */
export type PluginTable = readonly StageColumn[];

export interface StageColumn {
  readonly planned: PlannedStage;
  readonly column: MetricsColumn;
}

export interface HeadlineReport {
  /** Blocks of lines; the figures of single stages have no head. */
  readonly blocks: readonly { readonly head: string | undefined; readonly rows: readonly string[] }[];
  /** Number of figures that only the full tables have. */
  readonly omitted: number;
}

/** Rows of the table of a plugin that declares no headlines. */
const MOST_ROWS = 8;

/** Plugins with several stages have a table with a column per stage; the figures of the others share one table. */
export function formatHeadlines(tables: readonly PluginTable[], width: number): HeadlineReport {
  const plugins = tables.map(table => ({ table, columns: table.map(headlinesOf), declares: declaresHeadlines(table) }));
  const hasNone = plugins.every(({ columns, declares }) => declares && columns.every(({ cells }) => cells.size === 0));
  const singles: Single[] = [];
  const blocks: HeadlineReport['blocks'][number][] = [];
  let omitted = 0;
  for (const { table, columns, declares } of plugins) {
    const labels = [...new Set(columns.flatMap(({ cells }) => [...cells.keys()]))];
    if (labels.length === 0) {
      const rows = !declares || hasNone ? MOST_ROWS : 0;
      const full = formatMetricsTable(
        table.map(({ column }) => column),
        width,
      );
      const all = full[0]?.rows.length ?? 0;
      if (rows > 0) blocks.push(...full.map(({ head, rows: lines }) => ({ head, rows: lines.slice(0, rows) })));
      omitted += Math.max(0, all - rows);
      continue;
    }
    omitted += 1;
    if (columns.length === 1)
      singles.push(...columns.flatMap(({ stage, cells }) => [...cells].map(([label, cell]): Single => [label, cell, stage])));
    else {
      const cells = columns.map(column => [column.stage, ...labels.map(label => column.cells.get(label) ?? '')]);
      blocks.push(...formatBlocks(labels, cells, width));
    }
  }
  if (singles.length > 0) blocks.push({ head: undefined, rows: formatSingles(singles, width) });
  return { blocks, omitted };
}

type Single = readonly [label: string, cell: string, stage: string];

/** A table, or on a narrow terminal one text behind each label. */
function formatSingles(singles: readonly Single[], width: number): readonly string[] {
  const table = formatTable(singles, 'left');
  if (widest(table) <= width) return table;
  const labels = widest(singles.map(([label]) => label));
  return singles.flatMap(([label, cell, stage]) => wrapBehind(padEnd(label, labels), `${cell} (${stage})`, width));
}

interface HeadlineColumn {
  readonly stage: string;
  /** By label. */
  readonly cells: ReadonlyMap<string, string>;
}

function declaresHeadlines(table: PluginTable): boolean {
  return table.every(({ planned }) => planned.plugin.plugin.headlines !== undefined);
}

function headlinesOf({ planned, column }: StageColumn): HeadlineColumn {
  const { headlines = [] } = withCheckedParams(planned.plugin.plugin);
  const flat = flatColumn(column);
  const cells = (typeof headlines === 'function' ? headlines(planned.params) : headlines).flatMap(headline => {
    const cell = formatHeadline(flat, headline);
    return cell === '' ? [] : [[headline.label, cell] as const];
  });
  return { stage: column.stage, cells: new Map(cells) };
}

/** The figure with its difference to a baseline and what it was before; '' where the metrics have none. */
export function formatHeadline({ flat, previous }: Pick<FlatColumn, 'flat' | 'previous'>, { metric, unit }: Headline): string {
  return formatCell(flat, previous, metric, value => formatValue(value, unit));
}

function formatValue(value: Figure, unit: Headline['unit']): string {
  if (value === EQUAL || unit === undefined) return formatMetric(value);
  return unit === 'ms' ? `${Number(value.toPrecision(3))} ms` : `${formatPercent(value)} %`;
}

/** With one decimal; a share that is not whole never reads as 100, and one that is not zero never as 0. */
function formatPercent(share: number): string {
  const text = String(Number((100 * share).toFixed(1)));
  if (text === '100' && share < 1) return '99.9+';
  return text === '0' && share > 0 ? '<0.1' : text;
}
