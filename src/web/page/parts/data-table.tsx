/** Sortable tables for many rows: only visible rows are in the document. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { findColumnHint } from '../../../report/column-hints.js';
import { isStatic } from '../api/saved.js';
import { makeSorter, type RankedColumn, type RowOrder } from './sort-rows.js';
import { usePrinting } from './use-printing.js';

export interface ColumnSpec<Row> extends RankedColumn<Row> {
  readonly title: ComponentChildren;
  /** Explanation for the head. */
  readonly hint?: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** The first click sorts in this direction. */
  readonly first?: 'up' | 'down';
  readonly numeric?: boolean;
}

interface TableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly ColumnSpec<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly picked?: string | undefined;
  readonly pick?: (row: Row) => void;
  /** Height of the visible part, in rows. */
  readonly visibleRows?: number;
  /** 'varies': rows are higher than a line of text, so all of them are in the document. */
  readonly rowHeight?: 'line' | 'varies';
}

const ROW_PX = 29;

/** Rows beyond the visible ones, so that scrolling shows no gaps. */
const MARGIN = 12;

/** Characters of a head that is broken into lines. */
const LONG = 18;

/** Fewer rows are all in the document. */
const FEW = 80;

export function DataTable<Row>({ label, rows, columns, keyOf, picked, pick, visibleRows = 18, rowHeight = 'line' }: TableProps<Row>) {
  const [order, setOrder] = useState<RowOrder>();
  const [top, setTop] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const [sort] = useState(() => makeSorter<Row>());
  const sorted = sort(rows, columns, order);
  const isPrinting = usePrinting();
  const isLong = sorted.length > FEW && rowHeight === 'line' && !isStatic && !isPrinting;
  const start = isLong ? Math.max(0, Math.min(Math.floor(top / ROW_PX) - MARGIN, sorted.length - visibleRows)) : 0;
  const end = isLong ? Math.min(sorted.length, start + visibleRows + 2 * MARGIN) : sorted.length;
  const sortBy = ({ name, first = 'up' }: ColumnSpec<Row>): void =>
    setOrder(before =>
      before?.column !== name
        ? { column: name, direction: first }
        : before.direction === first
          ? { column: name, direction: first === 'up' ? 'down' : 'up' }
          : undefined,
    );
  return (
    <div
      class="scroll data"
      ref={box}
      style={{ maxHeight: `${(visibleRows + 2) * ROW_PX}px` }}
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={() => isLong && setTop(box.current?.scrollTop ?? 0)}
    >
      <table aria-rowcount={sorted.length}>
        <thead>
          <tr>
            {columns.map(column => (
              <th
                key={column.name}
                scope="col"
                class={`${column.numeric === true ? 'n' : ''}${typeof column.title === 'string' && column.title.length > LONG ? ' long' : ''}`}
                title={column.hint ?? (typeof column.title === 'string' ? findColumnHint(column.title) : undefined)}
                aria-sort={sortOf(order, column.name)}
              >
                {column.rank === undefined || column.title === '' || isStatic ? (
                  column.title
                ) : (
                  <button type="button" onClick={() => sortBy(column)}>
                    {column.title}
                    <span aria-hidden="true">{order?.column === column.name ? (order.direction === 'up' ? ' ▴' : ' ▾') : ''}</span>
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {start > 0 && <Gap height={start * ROW_PX} columns={columns.length} />}
          {sorted.slice(start, end).map((row, index) => (
            <tr
              key={keyOf(row)}
              class={picked !== undefined && picked === keyOf(row) ? 'picked' : pick === undefined ? '' : 'pickable'}
              aria-rowindex={start + index + 1}
              onClick={() => pick?.(row)}
            >
              {columns.map(({ name, cell, numeric }, place) =>
                place === 0 ? (
                  <th key={name} scope="row" class={numeric === true ? 'n' : ''}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={name} class={numeric === true ? 'n' : ''}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
          {end < sorted.length && <Gap height={(sorted.length - end) * ROW_PX} columns={columns.length} />}
        </tbody>
      </table>
    </div>
  );
}

function Gap({ height, columns }: { readonly height: number; readonly columns: number }) {
  return (
    <tr class="gap">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  );
}

function sortOf(order: RowOrder | undefined, name: string): 'ascending' | 'descending' | undefined {
  if (order?.column !== name) return undefined;
  return order.direction === 'up' ? 'ascending' : 'descending';
}
