/** Text tables: columns of equal display width, two spaces apart. */
import { padEnd, padStart, widest } from './display-width.js';

export type Row = readonly string[];

export const GAP = '  ';

/** 'numbers': columns are aligned right if each cell below the first row begins with a digit or is "–". 'left': none is. */
export type Alignment = 'numbers' | 'left';

/** The lines of the table, without trailing spaces. The first column is always aligned left. */
export function formatTable(rows: readonly Row[], alignment: Alignment = 'numbers'): readonly string[] {
  const widths = columnWidths(rows);
  const isRight = widths.map((_, column) => column > 0 && alignment === 'numbers' && holdsNumbers(rows, column));
  return rows.map(row => formatRow(row, widths, isRight));
}

/** The display width of each column. */
export function columnWidths(rows: readonly Row[]): readonly number[] {
  const columns = Math.max(0, ...rows.map(row => row.length));
  return Array.from({ length: columns }, (_, column) => widest(rows.map(row => row[column] ?? '')));
}

/** One line of a table. @param isRight whether each column is aligned right; all columns are aligned left if absent. */
export function formatRow(row: Row, widths: readonly number[], isRight: readonly boolean[] = []): string {
  return row
    .map((cell, column) => (isRight[column] === true ? padStart : padEnd)(cell, widths[column] ?? 0))
    .join(GAP)
    .trimEnd();
}

function holdsNumbers(rows: readonly Row[], column: number): boolean {
  return rows.slice(1).every(row => /^[\d–]/.test(row[column] ?? ''));
}
