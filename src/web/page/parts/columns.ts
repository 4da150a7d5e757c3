/** Columns of sortable tables: names, and numbers that are sorted by their value. */
import type { ComponentChildren } from 'preact';
import type { ColumnSpec } from './data-table.js';

interface ColumnOptions {
  /** Explanation of the head. Default: that of its term, if it is one. */
  readonly hint?: string;
  /** The first click sorts in this direction. Default of numbers: 'down'. */
  readonly first?: 'up' | 'down';
}

/** @param show Default: the text itself. */
export function textColumn<Row>(
  title: string,
  of: (row: Row) => string,
  show: (row: Row) => ComponentChildren = of,
  options: ColumnOptions = {},
): ColumnSpec<Row> {
  return { name: title, title, cell: show, rank: of, ...options };
}

/** @param of undefined: the row has no such number, and comes last. */
export function numberColumn<Row>(
  title: string,
  of: (row: Row) => number | undefined,
  format: (value: number, row: Row) => ComponentChildren,
  options: ColumnOptions = {},
): ColumnSpec<Row> {
  const cell = (row: Row): ComponentChildren => {
    const value = of(row);
    return value === undefined ? '–' : format(value, row);
  };
  return { name: title, title, numeric: true, first: 'down', rank: of, cell, ...options };
}
