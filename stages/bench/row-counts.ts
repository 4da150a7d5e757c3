/** At how many rows is a head timed? At counts that stand for equal shares of the images seen. */

/** A row count, and of how many images it is the middle. */
export interface RowCount {
  readonly rows: number;
  readonly images: number;
}

/**
 * The medians of `shares` equal shares of `seen`, equal ones joined, ascending. Images without rows are left out: they cost nothing.
 * All counts where there are not more than `shares`.
 */
export function chooseCounts(seen: readonly number[], shares: number): readonly RowCount[] {
  const sorted = seen.filter(rows => rows > 0).sort((a, b) => a - b);
  const groups = Math.min(shares, sorted.length);
  const chosen = new Map<number, number>();
  for (let group = 0; group < groups; group++) {
    const [from, to] = [Math.round((group * sorted.length) / groups), Math.round(((group + 1) * sorted.length) / groups)];
    const rows = sorted[(from + to - 1) >> 1] ?? 0;
    chosen.set(rows, (chosen.get(rows) ?? 0) + to - from);
  }
  return [...chosen].map(([rows, images]) => ({ rows, images }));
}

/** Mean of `figureOf` over the images that the counts stand for. */
export function meanOverImages(counts: readonly RowCount[], figureOf: (index: number) => number): number {
  const images = counts.reduce((sum, count) => sum + count.images, 0);
  return counts.reduce((sum, count, index) => sum + count.images * figureOf(index), 0) / images;
}
