/** The error for a lock file that cannot be used or does not match the project: all differences with their lines. Nothing is built. */
import { CodedError } from '../../base/coded-error.js';
import type { Diagnostic } from '../model/diagnostic.js';
import type { SourceSpan } from '../model/source-span.js';

/** Thrown before anything runs. Codes: docs/errors.md, section "pipeline.lock". */
export class LockRefused extends CodedError {
  override readonly name = 'LockRefused';
  readonly diagnostics: readonly Diagnostic[];
  /** The text of the lock file by its name, as used in spans. */
  readonly sources: ReadonlyMap<string, string>;

  constructor(diagnostics: readonly Diagnostic[], sources: ReadonlyMap<string, string>) {
    const [first] = diagnostics;
    super(
      first?.code ?? 'lock-damaged',
      diagnostics.map(({ message }) => message).join('; '),
      first?.help === undefined ? {} : { help: first.help },
    );
    this.diagnostics = diagnostics;
    this.sources = sources;
  }
}

/** The spans of whole lines of a text, without indentation. Lines count from 1. */
export function linesOf(file: string, text: string): (line: number) => SourceSpan {
  const lines = text.split('\n');
  return line => {
    const content = lines[line - 1]?.replace(/\r$/, '') ?? '';
    const column = content.length - content.trimStart().length + 1;
    return { file, line, column, endLine: line, endColumn: Math.max(column, content.length + 1) };
  };
}
