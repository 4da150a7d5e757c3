/**
 * Formats the metrics of stages as one table per plugin: a row per metric, a column per stage.
 * A cell includes the difference from the baseline and from the last build.
 */
import { EQUAL, type Figure } from '../../base/figure.js';
import type { JsonObject } from '../../base/json.js';
import { flattenHeadlines, flattenMetrics, isOwnFigure } from '../../engine/model/metrics.js';
import type { Console } from '../terminal/console.js';
import { displayWidth, padEnd, widest } from '../terminal/display-width.js';
import { formatRow, GAP } from '../terminal/text-table.js';
import { formatMetric, formatSigned, isWithin } from './format-metric.js';

export interface MetricsColumn {
  readonly stage: string;
  readonly metrics: JsonObject;
  /** The metrics of the result that this build replaced. */
  readonly previous: JsonObject | undefined;
}

export interface MetricsBlock {
  readonly head: string;
  readonly rows: readonly string[];
}

/** Prints the tables, each below an empty line. */
export function printTables(tables: readonly (readonly MetricsColumn[])[], console: Console): void {
  for (const columns of tables) {
    console.line('');
    for (const { head, rows } of formatMetricsTable(columns, console.width())) {
      console.line(console.style('bold', head));
      for (const row of rows) console.line(row);
    }
  }
}

/**
 * The table, split into blocks of columns if not all columns fit into `width`.
 * A cell reads "0.6791 (−0.0013)" relative to the baseline (the metrics under `delta`), and "was 0.6802" if the last build had another value.
 */
export function formatMetricsTable(columns: readonly MetricsColumn[], width = Number.POSITIVE_INFINITY): readonly MetricsBlock[] {
  const flats = columns.map(flatColumn);
  const names = [...new Set(columns.flatMap(({ metrics }) => [...flattenHeadlines(metrics).keys()]))].filter(isOwnFigure);
  const cells = flats.map(({ stage, flat, previous }) => [stage, ...names.map(path => formatCell(flat, previous, path))]);
  return formatBlocks(names, cells, width);
}

/** A column with its figures by path. */
export interface FlatColumn {
  readonly stage: string;
  readonly flat: ReadonlyMap<string, Figure>;
  readonly previous: ReadonlyMap<string, Figure>;
}

export function flatColumn({ stage, metrics, previous }: MetricsColumn): FlatColumn {
  return { stage, flat: flattenMetrics(metrics), previous: previous === undefined ? new Map() : flattenMetrics(previous) };
}

/** Rows `names` below a head. @param columns the head and the cells of each column. */
export function formatBlocks(
  names: readonly string[],
  columns: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): readonly MetricsBlock[] {
  const nameWidth = widest(names);
  const texts = columns.map(padAll);
  return blocksOf(texts, width - nameWidth).map(block => {
    const [head = '', ...rows] = ['', ...names].map((name, row) =>
      formatRow([name, ...block.map(column => column[row] ?? '')], [nameWidth]),
    );
    return { head, rows };
  });
}

function padAll(texts: readonly string[]): readonly string[] {
  const width = widest(texts);
  return texts.map(text => padEnd(text, width));
}

/** Splits columns into blocks. A block has as many columns as fit, and at least one. */
function blocksOf(columns: readonly (readonly string[])[], width: number): readonly (readonly (readonly string[])[])[] {
  const blocks: (readonly string[])[][] = [];
  let used = 0;
  for (const column of columns) {
    const size = GAP.length + displayWidth(column[0] ?? '');
    if (blocks.length === 0 || used + size > width) {
      blocks.push([]);
      used = 0;
    }
    blocks.at(-1)?.push(column);
    used += size;
  }
  return blocks;
}

/** The value with its differences. @param format of a value. */
export function formatCell(
  flat: ReadonlyMap<string, Figure>,
  previous: ReadonlyMap<string, Figure>,
  path: string,
  format: (value: Figure) => string = formatMetric,
): string {
  const value = flat.get(path);
  if (value === undefined) return '';
  const delta = flat.get(`delta.${path}`);
  const before = previous.get(path);
  const spread = numberAt(flat, `spread.${path}`);
  const text = format(value);
  const parts = [spread === undefined || value === EQUAL ? text : `${text} ±${format(spread)}`];
  if (delta !== undefined && delta !== EQUAL && value !== EQUAL) parts.push(`(${formatSigned(delta, value)})`);
  // A change too small to show is none.
  if (before !== undefined && before !== value && format(before) !== text) {
    const reach = spread === undefined ? undefined : spread + (numberAt(previous, `spread.${path}`) ?? 0);
    parts.push(`was ${format(before)}${isWithin(before, value, reach) ? ', within the spread' : ''}`);
  }
  return parts.join(' ');
}

function numberAt(flat: ReadonlyMap<string, Figure>, path: string): number | undefined {
  const found = flat.get(path);
  return found === EQUAL ? undefined : found;
}
