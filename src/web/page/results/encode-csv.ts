/** Comma-separated values, for scripts and spreadsheets. */

export type CsvLine = readonly (string | number | undefined)[];

/** RFC 4180: lines end with CR LF. A text that a spreadsheet would compute gets an apostrophe before it. */
export function encodeCsv(lines: readonly CsvLine[]): string {
  return lines.map(cells => `${cells.map(encodeCell).join(',')}\r\n`).join('');
}

function encodeCell(value: string | number | undefined): string {
  if (typeof value === 'number') return String(value);
  const text = value === undefined ? '' : /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
