/** Chooses the row counts at which a head is timed: each represents an equal share of the images. */

/** A row count, and the number of images that it represents. */
export interface RowCount {
  readonly rows: number;
  readonly images: number;
}

/**
 * The medians of `shares` equal shares of `seen`, ascending, with equal ones merged. Images without rows are skipped, because they cost nothing.
 * All counts if there are at most `shares`.
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

/** Mean of `figureOf` over the images that the counts represent. */
export function meanOverImages(counts: readonly RowCount[], figureOf: (index: number) => number): number {
  const images = counts.reduce((sum, count) => sum + count.images, 0);
  return counts.reduce((sum, count, index) => sum + count.images * figureOf(index), 0) / images;
}
