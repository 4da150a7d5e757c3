/** Prints figures as plain columns under a title: names aligned left, figures aligned right. */
import type { Samples } from './timing.js';

/** Prints a table. The first row is the header. */
export function printTable(title: string, rows: readonly (readonly string[])[]): void {
  const columns = Math.max(...rows.map(row => row.length));
  const widths = Array.from({ length: columns }, (_, column) => Math.max(...rows.map(row => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string => (column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0));
  console.log(`\n${title}`);
  for (const row of rows) console.log(`  ${row.map(cell).join('  ').trimEnd()}`);
}

/** "61.2 (58.0–66.1)": the median, and the first and third quartile. */
export function formatSamples({ median, low, high }: Samples): string {
  return `${median.toFixed(1)} (${low.toFixed(1)}–${high.toFixed(1)})`;
}

/** "2.04×": the ratio of two medians. */
export function formatRatio(value: number, base: number): string {
  return `${(value / base).toFixed(2)}×`;
}
