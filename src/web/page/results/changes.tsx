/** Objects that one side finds and the other does not, or finds differently, judged by the ground truth: the worst first, with pictures of both sides. */
import type { ChangeList, ChangeRow, SeenRow } from '../../../detection/coco/change-list.js';
import { formatCount, formatDelta, formatFixed } from '../../../report/numbers.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { Link } from '../parts/link.js';
import { plainText } from '../parts/text.js';
import { CutOuts } from './cut-outs.js';
import type { ResultSide } from './use-results.js';

interface ChangesProps {
  readonly list: ChangeList;
  readonly names: readonly [string, string];
  /** Whose images are shown. */
  readonly side: ResultSide;
  /** How many images they are of, where one side was evaluated on more. */
  readonly common?: number | undefined;
}

export function Changes({ list, names, side, common }: ChangesProps) {
  const { counts, kept, missed, rows, iouType, minScore } = list;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const count = (kind: ChangeRow['kind']): string => formatCount(counts[kind]);
  return (
    <section>
      <h2>Lost and found objects</h2>
      <p class="soft">
        {`Objects from ${names[0]} to ${names[1]}: lost ${count('lost')}, found ${count('found')}, changed ${count('changed')}, kept ${formatCount(kept)}, missed by both ${formatCount(missed)}; false positives: new ${count('extra')}, resolved ${count('resolved')}. `}
        {`Detections count from a score of ${minScore}; an object is found where ${iouType === 'segm' ? 'masks' : 'boxes'} of its class overlap by half.`}
        {common !== undefined && ` Of the first ${formatCount(common)} images, on which both were evaluated.`}
      </p>
      {rows.length > 0 && (
        <>
          <p class="soft">
            {`The ${rows.length} worst of ${formatCount(all)} changes, by cost: the score of a lost object or of a new false positive, or the loss of overlap and score of a changed one. The object itself is dashed.`}
          </p>
          <DataTable
            label="Changes"
            rows={rows}
            columns={columnsOf(names, side)}
            keyOf={row => String(rows.indexOf(row))}
            visibleRows={Math.min(60, 4 * rows.length + 2)}
            rowHeight="varies"
          />
        </>
      )}
    </section>
  );
}

const WORDS: Readonly<Record<ChangeRow['kind'], string>> = {
  lost: 'lost',
  found: 'found',
  changed: 'changed',
  extra: 'new false positive',
  resolved: 'resolved false positive',
};

const REASONS: Readonly<Record<SeenRow['lacks'], string>> = {
  nothing: '',
  score: 'score too low',
  class: 'another class',
  place: 'too little overlap',
};

function columnsOf(names: readonly [string, string], side: ResultSide): readonly ColumnSpec<ChangeRow>[] {
  const [before, after] = names;
  return [
    textColumn(
      'Change',
      ({ kind }) => WORDS[kind],
      row => <KindCell row={row} />,
    ),
    textColumn('Class', ({ category }) => plainText(category)),
    textColumn(
      'Image',
      ({ image: { id } }) => id,
      ({ image: { id } }) => (
        <Link view="results" query={{ image: id }}>
          {plainText(id)}
        </Link>
      ),
    ),
    numberColumn(
      'Cost',
      ({ cost }) => cost,
      cost => formatDelta(cost, 3),
      {
        hint: 'Score of a lost object or of a new false positive, or loss of overlap and score of a changed object',
      },
    ),
    numberColumn(`Score, ${before}`, row => row.before?.score, formatThree),
    numberColumn(`Score, ${after}`, row => row.after?.score, formatThree),
    numberColumn(`IoU, ${before}`, row => (row.truth === undefined ? undefined : row.before?.iou), formatThree),
    numberColumn(`IoU, ${after}`, row => (row.truth === undefined ? undefined : row.after?.iou), formatThree),
    { name: 'pictures', title: `${before}, ${after}`, cell: row => <CutOuts row={row} names={names} side={side} /> },
  ];
}

function KindCell({ row: { kind, before, after } }: { readonly row: ChangeRow }) {
  const seen = kind === 'lost' ? after : kind === 'found' ? before : undefined;
  const reason = REASONS[seen?.lacks ?? 'nothing'];
  return (
    <>
      {WORDS[kind]}
      {reason !== '' && <div class="soft">{reason}</div>}
    </>
  );
}

function formatThree(value: number): string {
  return formatFixed(value, 3);
}
