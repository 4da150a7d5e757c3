/** Sortable tables for many rows: only visible rows are in the document. */
import type { ComponentChildren } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import { findColumnHint } from '../../../report/column-hints.js';
import { isStatic } from '../api/saved.js';

export interface ColumnSpec<Row> {
  readonly name: string;
  readonly title: ComponentChildren;
  /** Explanation for the head. */
  readonly hint?: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** What is sorted by; a column without it cannot be sorted. Rows without a value come last. */
  readonly rank?: (row: Row) => number | string | undefined;
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
}

const ROW_PX = 29;

/** Rows beyond the visible ones, so that scrolling shows no gaps. */
const MARGIN = 12;

/** Fewer rows are all in the document. */
const FEW = 80;

export function DataTable<Row>({ label, rows, columns, keyOf, picked, pick, visibleRows = 18 }: TableProps<Row>) {
  const [order, setOrder] = useState<{ readonly column: string; readonly direction: 'up' | 'down' }>();
  const [top, setTop] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const sorted = useMemo(() => sortRows(rows, columns.find(({ name }) => name === order?.column)?.rank, order?.direction), [rows, order]);
  const isLong = sorted.length > FEW && !isStatic;
  const start = isLong ? Math.max(0, Math.min(Math.floor(top / ROW_PX) - MARGIN, sorted.length - visibleRows)) : 0;
  const end = isLong ? Math.min(sorted.length, start + visibleRows + 2 * MARGIN) : sorted.length;
  const sort = ({ name, first = 'up' }: ColumnSpec<Row>): void =>
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
                class={column.numeric === true ? 'n' : ''}
                title={column.hint ?? (typeof column.title === 'string' ? findColumnHint(column.title) : undefined)}
                aria-sort={sortOf(order, column.name)}
              >
                {column.rank === undefined || column.title === '' || isStatic ? (
                  column.title
                ) : (
                  <button type="button" onClick={() => sort(column)}>
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

function sortOf(
  order: { readonly column: string; readonly direction: 'up' | 'down' } | undefined,
  name: string,
): 'ascending' | 'descending' | undefined {
  if (order?.column !== name) return undefined;
  return order.direction === 'up' ? 'ascending' : 'descending';
}

function sortRows<Row>(rows: readonly Row[], rank: ColumnSpec<Row>['rank'], direction: 'up' | 'down' | undefined): readonly Row[] {
  if (rank === undefined || direction === undefined) return rows;
  const sign = direction === 'up' ? 1 : -1;
  return rows
    .map(row => ({ row, value: rank(row) }))
    .sort((a, b) => {
      if (a.value === undefined || b.value === undefined) return Number(a.value === undefined) - Number(b.value === undefined);
      return a.value === b.value ? 0 : sign * (a.value < b.value ? -1 : 1);
    })
    .map(({ row }) => row);
}
