/** Positions in source files. */

/** Lines and columns count from 1; `end` is exclusive. `file` is the path as the user wrote it. */
export interface SourceSpan {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}
