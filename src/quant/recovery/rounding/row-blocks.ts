/** Blocks of rows that are computed together: of one group, or of several whole groups. */

export interface RowBlock {
  /** Index of its first group, and their number. */
  readonly first: number;
  readonly groups: number;
  /** Index of its first row, and their number. */
  readonly start: number;
  readonly rows: number;
}

export interface RowSizes {
  readonly groups: number;
  /** Of all groups, which follow one another. */
  readonly rows: number;
  /** Weights of a row. */
  readonly columns: number;
}

/** Blocks have at most `most` weights, or one row. They depend on sizes alone. */
export function cutRows({ groups, rows, columns }: RowSizes, most: number): readonly RowBlock[] {
  const perGroup = rows / groups;
  const limit = Math.max(1, Math.floor(most / columns));
  if (groups > 1 && perGroup <= limit) {
    const together = Math.floor(limit / perGroup);
    return starts(groups, together).map(first => {
      const count = Math.min(together, groups - first);
      return { first, groups: count, start: first * perGroup, rows: count * perGroup };
    });
  }
  const count = Math.ceil(perGroup / Math.ceil(perGroup / limit));
  return Array.from({ length: groups }, (_, first) =>
    starts(perGroup, count).map(start => ({
      first,
      groups: 1,
      start: first * perGroup + start,
      rows: Math.min(count, perGroup - start),
    })),
  ).flat();
}

function starts(length: number, step: number): readonly number[] {
  return Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step);
}
