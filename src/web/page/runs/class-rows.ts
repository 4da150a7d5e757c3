/** Average precision of boxes per class, from precision-recall curves. */
import type { Judgment } from '../results/judge-results.js';

export interface ClassRow {
  readonly id: string;
  readonly name: string;
  /** Per side; undefined where the side has no object of the class. */
  readonly aps: readonly (number | undefined)[];
  /** Last minus first. */
  readonly change: number | undefined;
}

/** As COCO defines it: the mean of the precision at 101 recalls, and over the IoU thresholds. */
export function listClasses(judgments: readonly Pick<Judgment, 'curves'>[]): readonly ClassRow[] {
  const sides = judgments.map(({ curves }) => new Map(curves.categories.map(one => [String(one.category.id), one])));
  const names = new Map(sides.flatMap(side => [...side].map(([id, { category }]) => [id, category.name] as const)));
  return [...names].map(([id, name]): ClassRow => {
    const aps = sides.map(side => apOf(side.get(id)?.curves ?? []));
    const [first, last] = [aps[0], aps.at(-1)];
    return { id, name, aps, change: first === undefined || last === undefined ? undefined : last - first };
  });
}

function apOf(curves: readonly { readonly precision: readonly number[] }[]): number | undefined {
  const means = curves.flatMap(({ precision }) =>
    precision.length === 0 || precision.some(value => value < 0)
      ? []
      : [precision.reduce((sum, value) => sum + value, 0) / precision.length],
  );
  return means.length === 0 ? undefined : means.reduce((sum, value) => sum + value, 0) / means.length;
}
