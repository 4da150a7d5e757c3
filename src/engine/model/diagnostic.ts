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

/** Where parsers and planners put what they find. */
export interface DiagnosticSink {
  error(code: string, span: SourceSpan | undefined, message: string, help?: string): void;
  warning(code: string, span: SourceSpan | undefined, message: string, help?: string): void;
}

export interface DiagnosticList extends DiagnosticSink {
  readonly items: readonly Diagnostic[];
  hasErrors(): boolean;
}

export function makeDiagnosticList(): DiagnosticList {
  const items: Diagnostic[] = [];
  const add = (
    severity: Diagnostic['severity'],
    code: string,
    span: SourceSpan | undefined,
    message: string,
    help: string | undefined,
  ): void => {
    items.push({ severity, code, span, message, help });
  };
  return {
    items,
    error: (code, span, message, help) => add('error', code, span, message, help),
    warning: (code, span, message, help) => add('warning', code, span, message, help),
    hasErrors: () => items.some(item => item.severity === 'error'),
  };
}

/** Diagnostics in the order of the file, those of the command line first. What is wrong in the same way at the same place for several instances of a stage is said once. */
export function sortDiagnostics(items: readonly Diagnostic[]): readonly Diagnostic[] {
  const place = ({ span }: Diagnostic): number => (span === undefined ? -1 : span.line * 1e5 + span.column);
  const sorted = items.map((item, index) => ({ item, index })).sort((a, b) => place(a.item) - place(b.item) || a.index - b.index);
  const seen = new Set<string>();
  return sorted.flatMap(({ item }) => {
    const key = JSON.stringify([item.span ?? item.message, item.code, item.help]);
    if (seen.has(key)) return [];
    seen.add(key);
    return [item];
  });
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
  const line = sources.get(span.file)?.split('\n')[span.line - 1]?.replace(/\r$/, '');
  return [head, ...(line === undefined ? [] : excerpt(line, span)), ...helpLines].join('\n');
}

function excerpt(line: string, span: SourceSpan): string[] {
  const gutter = String(span.line);
  const end = span.endLine === span.line ? span.endColumn : line.length + 1;
  const lead = line.slice(0, span.column - 1).replace(/[^\t]/g, ' ');
  const mark = '^'.repeat(Math.max(1, Math.min(end, line.length + 1) - span.column));
  return [`  ${gutter} | ${line}`, `  ${' '.repeat(gutter.length)} | ${lead}${mark}`];
}
