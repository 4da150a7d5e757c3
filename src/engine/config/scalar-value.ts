/** Values of YAML scalars. What JSON or a number cannot hold becomes a diagnostic. */
import type { Scalar } from 'yaml';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { SourceSpan } from '../model/source-span.js';

/** Returns the value; null after a diagnostic. */
export function scalarValue({ value, source }: Scalar, span: SourceSpan, diagnostics: DiagnosticSink): null | boolean | number | string {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return checkText(value, span, diagnostics);
  if (typeof value === 'number' && Number.isFinite(value) && !losesDigits(value, source)) return value;
  const what = typeof value === 'number' && Number.isFinite(value) ? `${source} has more digits than a number can hold` : undefined;
  diagnostics.error(
    'yaml-value',
    span,
    what ?? `${String(value)} is not a value that a pipeline can hold`,
    what === undefined ? undefined : 'write it as text, in quotes',
  );
  return null;
}

/** Reports a lone surrogate. JSON distinguishes lone surrogates, but files and programs do not receive them: two keys would stand for equal bytes. */
export function checkText(text: string, span: SourceSpan, diagnostics: DiagnosticSink): string {
  if (HALF_CHARACTER.test(text))
    diagnostics.error('yaml-value', span, 'the text has half of a character: an unpaired surrogate', 'write the whole character');
  return text;
}

const HALF_CHARACTER = /\p{Surrogate}/u;

/** An integer beyond ±2⁵³ would silently become a neighboring value. */
function losesDigits(value: number, source: string | undefined): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(source ?? '');
}
