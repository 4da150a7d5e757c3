/** The figures of a build that its end tells: the headlines of its plugins, and the first figures of plugins that name none. */
import { EQUAL, type Figure } from '../../base/figure.js';
import type { PlannedStage } from '../../engine/model/plan.js';
import { withCheckedParams } from '../../stage/define-stage.js';
import type { Headline } from '../../stage/headline.js';
import { formatTable, type Row } from '../terminal/text-table.js';
import {
  type FlatColumn,
  flatColumn,
  formatBlocks,
  formatCell,
  formatMetric,
  formatMetricsTable,
  type MetricsColumn,
} from './metrics-table.js';

/** The metrics of the stages of one plugin. */
export type PluginTable = readonly StageColumn[];

export interface StageColumn {
  readonly planned: PlannedStage;
  readonly column: MetricsColumn;
}

export interface Story {
  /** Blocks of lines; the figures of single stages have no head. */
  readonly blocks: readonly { readonly head: string | undefined; readonly rows: readonly string[] }[];
  /** Number of figures that only the full tables have. */
  readonly left: number;
}

/** Rows of the table of a plugin that names no headlines. */
const MOST_ROWS = 8;

/** Plugins with several stages have a table with a column per stage; the figures of the others share one table. */
export function tellStory(tables: readonly PluginTable[], width: number): Story {
  const named = tables.map(table => ({ table, told: table.map(tellHeadlines), names: namesHeadlines(table) }));
  const isSilent = named.every(({ told, names }) => names && told.every(({ cells }) => cells.size === 0));
  const singles: Row[] = [];
  const blocks: Story['blocks'][number][] = [];
  let left = 0;
  for (const { table, told, names } of named) {
    const labels = [...new Set(told.flatMap(({ cells }) => [...cells.keys()]))];
    if (labels.length === 0) {
      const rows = !names || isSilent ? MOST_ROWS : 0;
      const full = formatMetricsTable(
        table.map(({ column }) => column),
        width,
      );
      const all = full[0]?.rows.length ?? 0;
      if (rows > 0) blocks.push(...full.map(({ head, rows: lines }) => ({ head, rows: lines.slice(0, rows) })));
      left += Math.max(0, all - rows);
      continue;
    }
    left += 1;
    if (told.length === 1) singles.push(...told.flatMap(({ stage, cells }) => [...cells].map(([label, cell]) => [label, cell, stage])));
    else {
      const cells = told.map(column => [column.stage, ...labels.map(label => column.cells.get(label) ?? '')]);
      blocks.push(...formatBlocks(labels, cells, width));
    }
  }
  if (singles.length > 0) blocks.push({ head: undefined, rows: formatTable(singles, 'left') });
  return { blocks, left };
}

interface ToldColumn {
  readonly stage: string;
  /** By label. */
  readonly cells: ReadonlyMap<string, string>;
}

function namesHeadlines(table: PluginTable): boolean {
  return table.every(({ planned }) => planned.plugin.plugin.headlines !== undefined);
}

function tellHeadlines({ planned, column }: StageColumn): ToldColumn {
  const { headlines = [] } = withCheckedParams(planned.plugin.plugin);
  const flat = flatColumn(column);
  const cells = (typeof headlines === 'function' ? headlines(planned.params) : headlines).flatMap(headline => {
    const cell = formatHeadline(flat, headline);
    return cell === '' ? [] : [[headline.label, cell] as const];
  });
  return { stage: column.stage, cells: new Map(cells) };
}

function formatHeadline({ flat, previous }: FlatColumn, { metric, unit }: Headline): string {
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
