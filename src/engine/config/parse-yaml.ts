/** Parser from YAML text to located values, based on the `yaml` package. Every mistake becomes a diagnostic. */
import { setFlagsFromString } from 'node:v8';
import { LineCounter } from 'yaml';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { SourceSpan } from '../model/source-span.js';
import { composeDocument } from './compose-yaml.js';
import { openConverter, type SpanOf, TooLarge } from './convert-yaml.js';
import type { Located } from './located.js';
import { MAX_CHARACTERS } from './read-text.js';

/** Size in characters from which the heap may grow by only 40 % between two garbage collections, as in builds. The default of V8 is several times that. */
const LARGE_CHARACTERS = 2_000_000;

const TOO_LARGE = 'yaml-too-large';
const HELP = 'docs/pipeline-format.md lists the limits of a file';

/**
 * Returns the root value, or undefined for an empty file or one with syntax errors, which are then in `diagnostics`.
 * A duplicate key is an error too, but the root value is returned with the first value of the key.
 * Accepts the YAML 1.2 core schema with anchors and merge keys (`<<`).
 */
export function parseYaml(file: string, text: string, diagnostics: DiagnosticSink): Located | undefined {
  if (text.length > MAX_CHARACTERS) {
    diagnostics.error(TOO_LARGE, undefined, `${file} has more than ${MAX_CHARACTERS.toLocaleString('en')} characters`, HELP);
    return undefined;
  }
  if (text.length > LARGE_CHARACTERS) setFlagsFromString('--heap-growing-percent=40');
  const lineCounter = new LineCounter();
  const spanOf = (from: number, to: number): SourceSpan => {
    const start = lineCounter.linePos(from);
    const end = lineCounter.linePos(Math.max(from, to));
    return { file, line: start.line, column: start.col, endLine: end.line, endColumn: end.col };
  };
  try {
    return parseLocated(text, lineCounter, spanOf, diagnostics);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    diagnostics.error(TOO_LARGE, error.span, error.message, HELP);
    return undefined;
  }
}

/** @throws TooLarge. */
function parseLocated(text: string, lineCounter: LineCounter, spanOf: SpanOf, diagnostics: DiagnosticSink): Located | undefined {
  let mistakes = 0;
  const mistake = (span: SourceSpan, message: string): void => {
    mistakes++;
    diagnostics.error('yaml-syntax', span, message);
  };
  const { convert, takeItems } = openConverter(spanOf, mistake, diagnostics);
  const composed = composeDocument(text, lineCounter, takeItems);
  if (composed.kind === 'too-large') throw new TooLarge(spanOf(composed.offset, composed.offset), composed.message);
  const { document, second } = composed;
  for (const problem of [...document.errors, ...document.warnings])
    mistake(spanOf(problem.pos[0], problem.pos[1]), problem.message.replaceAll('\n', ' '));
  if (second !== undefined) mistake(spanOf(second, second), 'a second YAML document begins here: a file holds one');
  if (document.errors.length > 0 || second !== undefined || document.contents === null) return undefined;
  const { located } = convert(document.contents, spanOf(0, 0), 0);
  return mistakes > 0 ? undefined : located;
}
