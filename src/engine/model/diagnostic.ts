/** What is wrong with the pipeline file or the arguments? Collected, so that everything is said at once. */
import type { SourceSpan } from './source-span.js';

export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  /** Stable; documented in docs/errors.md. */
  readonly code: string;
  readonly message: string;
  /** undefined: it concerns the command line. */
  readonly span: SourceSpan | undefined;
  readonly help: string | undefined;
}

/** What to do next. A function is called only for a diagnostic that is kept: the closest of many names takes long to find. */
export type Help = string | undefined | (() => string | undefined);

/** Where parsers and planners put what they find. */
export interface DiagnosticSink {
  error(code: string, span: SourceSpan | undefined, message: string, help?: Help): void;
  warning(code: string, span: SourceSpan | undefined, message: string, help?: Help): void;
}

export interface DiagnosticList extends DiagnosticSink {
  /** The first ones. */
  readonly items: readonly Diagnostic[];
  /** Of all that were found. */
  readonly count: number;
  hasErrors(): boolean;
}

/** More than anybody reads, and few enough to be written out with their source lines. */
const MAX_KEPT = 200;

export function makeDiagnosticList(): DiagnosticList {
  const kept: Diagnostic[] = [];
  const counts = { error: 0, warning: 0 };
  const total = (): number => counts.error + counts.warning;
  const add = (severity: Diagnostic['severity'], code: string, span: SourceSpan | undefined, message: string, help: Help): void => {
    counts[severity]++;
    // Warnings leave room for an error.
    if (kept.length >= (severity === 'error' ? MAX_KEPT : MAX_KEPT / 2)) return;
    kept.push({ severity, code, span, message: clip(message), help: clip(typeof help === 'function' ? help() : help) });
  };
  return {
    items: kept,
    get count() {
      return total();
    },
    error: (code, span, message, help) => add('error', code, span, message, help),
    warning: (code, span, message, help) => add('warning', code, span, message, help),
    hasErrors: () => counts.error > 0,
  };
}

/** Messages quote what a file says, which may be megabytes long. */
const MAX_CHARACTERS = 2000;

function clip<Text extends string | undefined>(text: Text): Text | string {
  return text === undefined || text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}… (${text.length} characters)`;
}

/**
 * Diagnostics in the order of the file, those of the command line first. What is wrong in the same way at the same place for several instances of a stage is
 * said once. A last one counts those that were not kept.
 */
export function sortDiagnostics(list: DiagnosticList): readonly Diagnostic[] {
  const line = ({ span }: Diagnostic): number => span?.line ?? 0;
  const column = ({ span }: Diagnostic): number => span?.column ?? 0;
  const sorted = [...list.items].sort((a, b) => line(a) - line(b) || column(a) - column(b));
  const seen = new Set<string>();
  const told = sorted.flatMap(item => {
    const key = JSON.stringify([item.span ?? item.message, item.code, item.help]);
    if (seen.has(key)) return [];
    seen.add(key);
    return [item];
  });
  const more = list.count - list.items.length;
  return more === 0 ? told : [...told, countOthers(more, list.hasErrors() ? 'error' : 'warning')];
}

function countOthers(more: number, severity: Diagnostic['severity']): Diagnostic {
  const message = `${more} more problems were found, which are not shown`;
  return { severity, code: 'more-problems', span: undefined, message, help: 'correct those above first' };
}

/**
 * `file:line:col: error[code]: message`, the source line with a mark under the place, and the help.
 * @param sources texts by file name, as the spans name them.
 */
export function formatDiagnostic(diagnostic: Diagnostic, sources: ReadonlyMap<string, string>): string {
  const { span, severity, code, message, help } = diagnostic;
  const helpLines = help === undefined ? [] : [`  help: ${help}`];
  if (span === undefined) return [`${severity}[${code}]: ${message}`, ...helpLines].join('\n');
  const head = `${span.file}:${span.line}:${span.column}: ${severity}[${code}]: ${message}`;
  const line = findLine(sources.get(span.file), span.line);
  return [head, ...(line === undefined ? [] : excerpt(line, span)), ...helpLines].join('\n');
}

function findLine(text: string | undefined, number: number): string | undefined {
  if (text === undefined) return undefined;
  let start = 0;
  for (let line = 1; line < number; line++) {
    const end = text.indexOf('\n', start);
    if (end < 0) return undefined;
    start = end + 1;
  }
  const end = text.indexOf('\n', start);
  return text.slice(start, end < 0 ? undefined : end).replace(/\r$/, '');
}

/** A longer line is shown around the place alone. */
const MAX_LINE = 400;

function excerpt(whole: string, span: SourceSpan): string[] {
  const gutter = String(span.line);
  const from = whole.length <= MAX_LINE ? 0 : Math.max(0, span.column - 1 - MAX_LINE / 4);
  const line = whole.slice(from, from + MAX_LINE);
  const column = span.column - from;
  const end = span.endLine === span.line ? span.endColumn - from : line.length + 1;
  const lead = line.slice(0, column - 1).replace(/[^\t]/g, ' ');
  const mark = '^'.repeat(Math.max(1, Math.min(end, line.length + 1) - column));
  return [`  ${gutter} | ${line}`, `  ${' '.repeat(gutter.length)} | ${lead}${mark}`];
}
