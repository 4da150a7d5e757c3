/** Short tables without sorting. The first cell names its row. */
import type { ComponentChildren } from 'preact';
import { findColumnHint } from '../../../report/column-hints.js';
import { Empty } from './notice.js';
import { Scroll } from './scroll.js';

export interface PlainColumn<Row> {
  /** Text of the head; a table has a head if its first column has a title. */
  readonly title?: string;
  /** Explanation of the head. Default: that of its term, if it is one. */
  readonly hint?: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Class of the cells: n for numbers, t for texts that break, soft. */
  readonly look?: string;
}

interface PlainTableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly PlainColumn<Row>[];
  readonly keyOf: (row: Row, index: number) => string | number;
  readonly picked?: string | undefined;
  /** Class of the region. */
  readonly class?: string;
  /** Text in place of a table without rows. */
  readonly none?: string;
  /** 'page': as wide as the page. */
  readonly width?: 'narrow' | 'page';
}

export function PlainTable<Row>({ label, rows, columns, keyOf, picked, class: look, none, width = 'narrow' }: PlainTableProps<Row>) {
  const [first, ...others] = columns;
  if (first === undefined) return null;
  if (rows.length === 0 && none !== undefined) return <Empty>{none}</Empty>;
  return (
    <Scroll label={label} {...(look === undefined ? {} : { class: look })}>
      <table class={width === 'narrow' ? 'narrow' : ''}>
        {first.title !== undefined && (
          <thead>
            <tr>
              {columns.map(({ title, hint, look: own }) => (
                <th
                  key={title}
                  scope="col"
                  class={own === 'n' ? 'n' : ''}
                  title={hint ?? (title === undefined ? undefined : findColumnHint(title))}
                >
                  {title}
                </th>
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)} class={picked !== undefined && keyOf(row, index) === picked ? 'picked' : ''}>
              <th scope="row">{first.cell(row)}</th>
              {others.map(({ cell, look: own = '' }, place) => (
                <td key={place} class={own}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
