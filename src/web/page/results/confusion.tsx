/** Per class: how many objects both sides have, and which only one of them has. */
import { useMemo } from 'preact/hooks';
import { formatFixed } from '../../../report/numbers.js';
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
    cell: ({ scoreChange }) => (scoreChange === undefined ? '–' : formatFixed(scoreChange, 4)),
  },
];

function rowsOf({ objects, truth, categories }: MatchResult): readonly ClassRow[] {
  const kinds = OBJECT_KINDS.length;
  const counts = new Uint32Array(kinds * categories.length);
  const truths = new Uint32Array(categories.length);
  const changes = new Float64Array(categories.length);
  const add = (columns: Uint32Array | Float64Array, at: number, value: number): void => {
    columns[at] = (columns[at] ?? 0) + value;
  };
  for (const [at, category] of objects.classes.entries()) {
    const kind = objects.kinds[at] ?? 0;
    add(counts, kinds * category + kind, 1);
    if (hasPartner(kind)) add(changes, category, (objects.right.scores[at] ?? 0) - (objects.left.scores[at] ?? 0));
  }
  for (const category of truth.classes) add(truths, category, 1);
  return categories
    .map(({ id, name }, index): ClassRow => {
      const own = counts.subarray(kinds * index, kinds * (index + 1));
      const partners = own.reduce((sum, count, kind) => (hasPartner(kind) ? sum + count : sum), 0);
      return {
        category: id,
        name,
        counts: Object.fromEntries(OBJECT_KINDS.map((kind, at) => [kind, own[at] ?? 0])) as Record<ObjectKind, number>,
        truth: truths[index] ?? 0,
        scoreChange: partners === 0 ? undefined : (changes[index] ?? 0) / partners,
      };
    })
    .filter(({ counts: own, truth: count }) => count > 0 || OBJECT_KINDS.some(kind => own[kind] > 0))
    .sort((a, b) => a.category.localeCompare(b.category, 'en', { numeric: true }));
}

function hasPartner(kind: number): boolean {
  return OBJECT_KINDS[kind] === 'equal' || OBJECT_KINDS[kind] === 'changed';
}
