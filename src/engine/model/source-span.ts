/** Where in a file does something stand? */

/** Lines and columns count from 1; `end` is exclusive. Points into the file that `file` names, as the user wrote its path. */
export interface SourceSpan {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}
