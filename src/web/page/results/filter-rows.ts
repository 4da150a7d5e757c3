/** The images and objects that the filters of the view "Results" keep. */
import type { ImageRow, MatchResult } from './result-types.js';

/** An image with the objects that the filter keeps. */
export interface FilteredRow {
  readonly row: ImageRow;
  readonly shown: ImageRow['objects'];
}

/** COCO's bounds of small and medium areas, in pixels. */
export const SIZES: Readonly<Record<string, readonly [number, number]>> = {
  small: [0, 32 ** 2],
  medium: [32 ** 2, 96 ** 2],
  large: [96 ** 2, Number.POSITIVE_INFINITY],
};

export function filterRows({ rows }: Pick<MatchResult, 'rows'>, query: Readonly<Record<string, string>>): readonly FilteredRow[] {
  const { kind, size, class: category } = query;
  const least = Number(query.score ?? 0);
  const [low, high] = SIZES[size ?? ''] ?? [0, Number.POSITIVE_INFINITY];
  const isFree = kind === undefined && category === undefined && size === undefined && least === 0;
  if (isFree) return rows.map(row => ({ row, shown: row.objects }));
  return rows.flatMap(row => {
    const shown = row.objects.filter(({ kind: own, left, right }) => {
      const box = left ?? right;
      if (box === undefined || (kind !== undefined && own !== kind) || (category !== undefined && box.category !== category)) return false;
      const [, , width, height] = box.box;
      const area = width * height;
      return area >= low && area < high && Math.max(left?.score ?? 0, right?.score ?? 0) >= least;
    });
    return shown.length === 0 ? [] : [{ row, shown }];
  });
}
