/** How do the metrics of stages stand side by side? One table per plugin: a row per metric, a column per stage, differences to the baseline and to the last build in the cell. */
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';

export interface MetricsColumn {
  readonly stage: string;
  readonly metrics: JsonObject;
  /** Of the result that this build replaced. */
  readonly previous: JsonObject | undefined;
}

/** Numbers by dotted path, in the order of the document. */
export function flattenMetrics(metrics: Json, prefix = ''): ReadonlyMap<string, number> {
  const flat = new Map<string, number>();
  if (!isJsonObject(metrics)) return flat;
  for (const [name, value] of Object.entries(metrics)) {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (typeof value === 'number') flat.set(path, value);
    else for (const [inner, number] of flattenMetrics(value, path)) flat.set(inner, number);
  }
  return flat;
}

/** Deeper metrics, such as one per value of a model, stay in the artifact. */
const DEPTH = 2;

/** Lines of the table. A cell reads "0.6791 (−0.0013)" against the baseline (the metrics under `delta`), and "was 0.6802" where the last build had another value. */
export function formatMetricsTable(columns: readonly MetricsColumn[]): string[] {
  const flats = columns.map(column => flattenMetrics(column.metrics));
  const rows = [...new Set(flats.flatMap(flat => [...flat.keys()]))].filter(
    path => !path.startsWith('delta.') && path.split('.').length <= DEPTH,
  );
  const cells = rows.map(path =>
    columns.map((column, index) =>
      formatCell(flats[index] ?? new Map(), column.previous === undefined ? new Map() : flattenMetrics(column.previous), path),
    ),
  );
  const nameWidth = Math.max(...rows.map(row => row.length), 0);
  const widths = columns.map((column, index) => Math.max(column.stage.length, ...cells.map(row => row[index]?.length ?? 0)));
  const join = (name: string, parts: readonly string[]): string =>
    [name.padEnd(nameWidth), ...parts.map((part, index) => part.padEnd(widths[index] ?? 0))].join('  ').trimEnd();
  return [
    join(
      '',
      columns.map(column => column.stage),
    ),
    ...rows.map((row, index) => join(row, cells[index] ?? [])),
  ];
}

function formatCell(flat: ReadonlyMap<string, number>, previous: ReadonlyMap<string, number>, path: string): string {
  const value = flat.get(path);
  if (value === undefined) return '';
  const delta = flat.get(`delta.${path}`);
  const before = previous.get(path);
  const parts = [formatMetric(value)];
  if (delta !== undefined) parts.push(`(${formatSigned(delta)})`);
  if (before !== undefined && before !== value) parts.push(`was ${formatMetric(before)}`);
  return parts.join(' ');
}

/** Whole numbers as they are, others with four decimals, very small and very large ones in powers of ten. */
export function formatMetric(value: number): string {
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e6 ? value.toFixed(4) : value.toExponential(2);
}

/** Four decimals with a sign, as differences stand beside values of that many. */
function formatSigned(value: number): string {
  const text = Math.abs(value).toFixed(4);
  return value < 0 && Number(text) !== 0 ? `−${text}` : `+${text}`;
}
