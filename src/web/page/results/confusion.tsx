/** Per class: how many objects both sides have, and which only one of them has. */
import { useMemo } from 'preact/hooks';
import { setQuery } from '../api/router.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { plainText } from '../parts/text.js';
import { type MatchResult, OBJECT_KINDS, type ObjectKind } from './result-types.js';

interface ClassRow {
  readonly category: string;
  readonly name: string;
  readonly counts: Readonly<Record<ObjectKind, number>>;
  readonly truth: number;
  /** Mean change of the score of partners, right minus left. */
  readonly scoreChange: number | undefined;
}

export function Confusion({ result }: { readonly result: MatchResult }) {
  const rows = useMemo(() => rowsOf(result), [result]);
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>By class</h2>
      <p class="soft">Partners have the same class and a box IoU of at least 0.5. Pick a class to see its images.</p>
      <DataTable
        label="Classes"
        rows={rows}
        columns={COLUMNS}
        keyOf={({ category }) => category}
        pick={({ category }) => setQuery({ class: category, image: undefined })}
        visibleRows={14}
      />
    </section>
  );
}

const COLUMNS: readonly ColumnSpec<ClassRow>[] = [
  {
    name: 'class',
    title: 'Class',
    rank: ({ name }) => name,
    cell: ({ name }) => (
      <button type="button" class="as-link">
        {plainText(name)}
      </button>
    ),
  },
  { name: 'truth', title: 'Ground truth', numeric: true, first: 'down', rank: ({ truth }) => truth, cell: ({ truth }) => truth },
  ...OBJECT_KINDS.map(
    (kind): ColumnSpec<ClassRow> => ({
      name: kind,
      title: kind,
      numeric: true,
      first: 'down',
      rank: ({ counts }) => counts[kind],
      cell: ({ counts }) => counts[kind],
    }),
  ),
  {
    name: 'score',
    title: 'Mean score change',
    numeric: true,
    rank: ({ scoreChange }) => scoreChange,
    cell: ({ scoreChange }) => (scoreChange === undefined ? '–' : scoreChange.toFixed(4).replace('-', '\u2212')),
  },
];

function rowsOf({ rows, categories }: MatchResult): readonly ClassRow[] {
  const found = new Map<string, { counts: Record<ObjectKind, number>; truth: number; change: number }>();
  const of = (category: string) => {
    const known = found.get(category) ?? { counts: { equal: 0, changed: 0, lost: 0, found: 0 }, truth: 0, change: 0 };
    found.set(category, known);
    return known;
  };
  for (const { objects, truth } of rows) {
    for (const { kind, left, right } of objects) {
      const own = of((left ?? right)?.category ?? '');
      own.counts[kind] += 1;
      if (left !== undefined && right !== undefined) own.change += right.score - left.score;
    }
    for (const { category } of truth) of(category).truth += 1;
  }
  return [...found]
    .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([category, { counts, truth, change }]) => {
      const partners = counts.equal + counts.changed;
      return {
        category,
        name: categories[category] ?? `class ${category}`,
        counts,
        truth,
        scoreChange: partners === 0 ? undefined : change / partners,
      };
    });
}
