/** The column of an SQNR in dB. */
import { type Figure, rankOf } from '../../../base/figure.js';
import { formatDb } from '../../../report/numbers.js';
import type { ColumnSpec } from '../parts/data-table.js';

/** SQNR is sorted with "equal" above all numbers. */
export function sqnrColumn<Row>(of: (row: Row) => Figure | undefined): ColumnSpec<Row> {
  return {
    name: 'sqnr',
    title: 'SQNR (dB)',
    numeric: true,
    first: 'up',
    rank: row => {
      const figure = of(row);
      return figure === undefined ? undefined : rankOf(figure);
    },
    cell: row => {
      const figure = of(row);
      return figure === undefined ? '–' : formatDb(figure);
    },
  };
}
