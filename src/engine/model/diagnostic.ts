/** Diagnostics about the pipeline file and the arguments. They are collected so that all problems are reported at once. */
import type { SourceSpan } from './source-span.js';

export interface Diagnostic {
  readonly severity: 'error' | 'warning';
  /** Stable; documented in docs/errors.md. */
  readonly code: string;
  readonly message: string;
  /** undefined: the diagnostic concerns the command line. */
  readonly span: SourceSpan | undefined;
  readonly help: string | undefined;
}

/** The next step for the user. A function is called only for a diagnostic that is kept, because finding the closest of many names is slow. */
export type Help = string | undefined | (() => string | undefined);

/** Receives the diagnostics of parsers and planners. */
export interface DiagnosticSink {
  error(code: string, span: SourceSpan | undefined, message: string, help?: Help): void;
  warning(code: string, span: SourceSpan | undefined, message: string, help?: Help): void;
}

export interface DiagnosticList extends DiagnosticSink {
  /** The first diagnostics, up to a limit. */
  readonly items: readonly Diagnostic[];
  /** The number of all diagnostics that were found. */
  readonly count: number;
  hasErrors(): boolean;
}

/** Maximum number of diagnostics that are kept. It also bounds the output with source lines. */
const MAX_KEPT = 200;

export function makeDiagnosticList(): DiagnosticList {
  const kept: Diagnostic[] = [];
  const counts = { error: 0, warning: 0 };
  const total = (): number => counts.error + counts.warning;
  const add = (severity: Diagnostic['severity'], code: string, span: SourceSpan | undefined, message: string, help: Help): void => {
    counts[severity]++;
    // Warnings fill at most half of the list, so that errors still fit.
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

/** Maximum length of a message. Messages quote the file, and a quote may be megabytes long. */
const MAX_CHARACTERS = 2000;

function clip<Text extends string | undefined>(text: Text): Text | string {
  return text === undefined || text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}… (${text.length} characters)`;
}

/**
 * Returns the diagnostics in the order of the file, those of the command line first.
 * The same problem at the same place in several instances of a stage is reported once.
 * A last diagnostic counts those that were not kept.
 */
export function sortDiagnostics(list: DiagnosticList): readonly Diagnostic[] {
  const line = ({ span }: Diagnostic): number => span?.line ?? 0;
  const column = ({ span }: Diagnostic): number => span?.column ?? 0;
  const sorted = [...list.items].sort((a, b) => line(a) - line(b) || column(a) - column(b));
  const seen = new Set<string>();
  const shown = sorted.flatMap(item => {
    const key = JSON.stringify([item.span ?? item.message, item.code, item.help]);
    if (seen.has(key)) return [];
    seen.add(key);
    return [item];
  });
  const more = list.count - list.items.length;
  return more === 0 ? shown : [...shown, countOthers(more, list.hasErrors() ? 'error' : 'warning')];
}

function countOthers(more: number, severity: Diagnostic['severity']): Diagnostic {
  const message = `${more} more problems are not shown`;
  return { severity, code: 'more-problems', span: undefined, message, help: 'correct those above first' };
}

/**
 * Formats as `file:line:col: error[code]: message`, followed by the source line with a mark under the position, and the help.
 * @param sources texts by file name, as used in the spans.
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

/** Maximum length of a displayed line. Of a longer line, only the text around the position is shown. */
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
