/** The text of an axis on the command line: "quantize.range=min-max,percentile:99.9". */
import type { DiagnosticSink } from '../model/diagnostic.js';

export interface AxisText {
  readonly address: string;
  readonly values: readonly string[];
}

/** Returns undefined if the text is not of the form NAME=VALUE,…, which is then in `diagnostics`. */
export function parseAxis(text: string, diagnostics: DiagnosticSink): AxisText | undefined {
  const equals = text.indexOf('=');
  const address = text.slice(0, Math.max(equals, 0)).trim();
  const values = equals < 0 ? undefined : splitValues(text.slice(equals + 1));
  if (address !== '' && values?.every(value => value !== '') === true) return { address, values };
  const help = 'commas inside brackets, braces and quotes separate no values';
  diagnostics.error('bad-axis', undefined, `-m ${text}: expected NAME=VALUE,VALUE,…`, help);
  return undefined;
}

/** Splits at commas outside brackets, braces and quotes. Returns undefined if one of these is not closed. */
function splitValues(text: string): readonly string[] | undefined {
  const values: string[] = [];
  const open: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? '';
    const inner = open.at(-1);
    if (inner === '"' && char === '\\') i++;
    else if (char === inner) open.pop();
    else if (inner === '"' || inner === "'") continue;
    else if (CLOSING[char] !== undefined && (char !== "'" || i === start)) open.push(CLOSING[char]);
    else if (char === ',' && open.length === 0) {
      values.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  return open.length > 0 ? undefined : [...values, text.slice(start).trim()];
}

const CLOSING: Readonly<Record<string, string>> = { '[': ']', '{': '}', '"': '"', "'": "'" };
