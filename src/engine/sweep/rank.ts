/** The order of a sweep's rows, and its Pareto front. */
import { rankOf } from '../../base/figure.js';
import { type Objective, SIZE } from './objectives.js';
import { isBuilt, type SweepRow } from './sweep-rows.js';

export interface RankedRow extends SweepRow {
  /** No other row is at least as good in every objective and better in one. */
  readonly onFront: boolean;
}

/**
 * Sorts by the objectives in their order, best first, then by number. Rows without a figure, and those that failed, are last.
 * Only rows that are built and have every figure can be on the front.
 */
export function rankRows(rows: readonly SweepRow[], objectives: readonly Objective[]): readonly RankedRow[] {
  const scored = rows.map(row => ({ row, scores: objectives.map(objective => scoreOf(row, objective)) }));
  const complete = scored.filter(({ row, scores }) => objectives.length > 0 && isBuilt(row) && scores.every(score => score !== undefined));
  const front = new Set(
    complete.filter(one => !complete.some(other => dominates(other.scores, one.scores))).map(({ row }) => row.configuration.number),
  );
  return [...scored]
    .sort(
      (a, b) =>
        Number(isBuilt(b.row)) - Number(isBuilt(a.row)) ||
        compareScores(a.scores, b.scores) ||
        a.row.configuration.number - b.row.configuration.number,
    )
    .map(({ row }) => ({ ...row, onFront: front.has(row.configuration.number) }));
}

type Scores = readonly (number | undefined)[];

/** Higher is better. */
function scoreOf({ figures, sizeBytes }: SweepRow, { key, goal }: Objective): number | undefined {
  const figure = key === SIZE ? sizeBytes : figures.get(key);
  if (figure === undefined) return undefined;
  return goal === 'maximize' ? rankOf(figure) : -rankOf(figure);
}

function dominates(a: Scores, b: Scores): boolean {
  const pairs = a.map((score, index): readonly [number, number] => [score ?? 0, b[index] ?? 0]);
  return pairs.every(([one, other]) => one >= other) && pairs.some(([one, other]) => one > other);
}

function compareScores(a: Scores, b: Scores): number {
  for (const [index, score] of a.entries()) {
    const other = b[index];
    if (score === other) continue;
    if (score === undefined) return 1;
    if (other === undefined) return -1;
    return other > score ? 1 : -1;
  }
  return 0;
}
