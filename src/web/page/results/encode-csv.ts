/** Comma-separated values, for scripts and spreadsheets. */

export type CsvLine = readonly (string | number | undefined)[];

/**
 * RFC 4180: lines end with CR LF. A text that a spreadsheet would compute gets an apostrophe before it.
 * A list with other characters than those of ASCII begins with a byte order mark: without it, Excel reads another encoding than UTF-8.
 */
export function encodeCsv(lines: readonly CsvLine[]): string {
  const text = lines.map(cells => `${cells.map(encodeCell).join(',')}\r\n`).join('');
  return /[^\0-\x7f]/.test(text) ? `\ufeff${text}` : text;
}

/** Also of full width, which spreadsheets in East Asian languages take for the same. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

const NUMBER = /^-\d+(?:\.\d+)?$/;

function encodeCell(value: string | number | undefined): string {
  if (typeof value === 'number') return String(value);
  const text = value === undefined ? '' : FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
