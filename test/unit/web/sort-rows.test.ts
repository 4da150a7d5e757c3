/** The order of a table's rows. */
import { makeSorter } from '../../../src/web/page/parts/sort-rows.js';

describe('sorted rows', () => {
  const rows = ['a', 'b', 'c'];
  const columnsOf = (ranks: Readonly<Record<string, number>>) => [{ name: 'AP', rank: (row: string) => ranks[row] }];

  it('follow the figures of new columns, as after a build', () => {
    const sort = makeSorter<string>();
    const order = { column: 'AP', direction: 'up' } as const;
    expect(sort(rows, columnsOf({ a: 3, b: 2, c: 1 }), order)).toEqual(['c', 'b', 'a']);
    expect(sort(rows, columnsOf({ a: 1, b: 3, c: 2 }), order)).toEqual(['a', 'c', 'b']);
  });

  it('are the same list where nothing has changed', () => {
    const sort = makeSorter<string>();
    const [columns, order] = [columnsOf({ a: 3, b: 2, c: 1 }), { column: 'AP', direction: 'down' } as const];
    expect(sort(rows, columns, order)).toBe(sort(rows, columns, order));
  });

  it('without a value come last in both directions', () => {
    const sort = makeSorter<string>();
    for (const direction of ['up', 'down'] as const)
      expect(sort(rows, columnsOf({ b: 1, c: 1 }), { column: 'AP', direction })).toEqual(['b', 'c', 'a']);
  });
});
