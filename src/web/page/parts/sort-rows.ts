/** The order of a table's rows. */

export interface RankedColumn<Row> {
  readonly name: string;
  /** What is sorted by; a column without it cannot be sorted. Rows without a value come last. */
  readonly rank?: (row: Row) => number | string | undefined;
}

export interface RowOrder {
  /** Name of a column. */
  readonly column: string;
  readonly direction: 'up' | 'down';
}

type Sort<Row> = (rows: readonly Row[], columns: readonly RankedColumn<Row>[], order: RowOrder | undefined) => readonly Row[];

/** A `sortRows` that gives the last answer again where nothing has changed. Columns count too: their ranks hold the figures of a build. */
export function makeSorter<Row>(): Sort<Row> {
  let last: { readonly asked: Parameters<Sort<Row>>; readonly sorted: readonly Row[] } | undefined;
  return (...asked) => {
    if (last === undefined || asked.some((one, index) => one !== last?.asked[index])) last = { asked, sorted: sortRows(...asked) };
    return last.sorted;
  };
}

/** Rows without a value come last. */
function sortRows<Row>(...[rows, columns, order]: Parameters<Sort<Row>>): readonly Row[] {
  const rank = columns.find(({ name }) => name === order?.column)?.rank;
  if (rank === undefined || order === undefined) return rows;
  const sign = order.direction === 'up' ? 1 : -1;
  return rows
    .map(row => ({ row, value: rank(row) }))
    .sort((a, b) => {
      if (a.value === undefined || b.value === undefined) return Number(a.value === undefined) - Number(b.value === undefined);
      return a.value === b.value ? 0 : sign * (a.value < b.value ? -1 : 1);
    })
    .map(({ row }) => row);
}
