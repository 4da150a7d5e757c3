/** The view "Results": images with the detections of two stages side by side, filtered by what changed. */
import { useMemo } from 'preact/hooks';
import { setQuery, usePlace } from '../api/router.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { NameCell } from '../parts/name-cell.js';
import { Badge, Empty, Waiting } from '../parts/notice.js';
import { Select } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import { View } from '../parts/view.js';
import type { ViewProps } from '../parts/view-props.js';
import { CocoTable } from './coco-table.js';
import { Confusion } from './confusion.js';
import { ExportButton } from './export-list.js';
import { type FilteredRow, filterRows, SIZES } from './filter-rows.js';
import { ImagePair } from './image-pair.js';
import { Judgments } from './judgments.js';
import { type MatchResult, OBJECT_KINDS, type ObjectKind } from './result-types.js';
import { findSides, type ResultSide, useResults } from './use-results.js';

export function ResultsPage({ pipeline }: ViewProps) {
  const { query } = usePlace();
  const sides = useMemo(() => findSides(pipeline.stages), [pipeline]);
  const left = sides.find(({ stage }) => stage.id === query.left) ?? sides[0];
  const right = sides.find(({ stage }) => stage.id === query.right) ?? sides.at(-1);
  if (left === undefined || right === undefined)
    return <Empty>No built stage has detections on a data set. A stage that uses “evaluate” writes them.</Empty>;
  return (
    <View
      title="Results"
      tools={
        <>
          {(
            [
              ['left', left],
              ['right', right],
            ] as const
          ).map(([side, chosen]) => (
            <Select
              key={side}
              label={side === 'left' ? 'Left' : 'Right'}
              value={chosen.stage.id}
              choices={sides.map(({ stage: { id } }) => id)}
              pick={id => setQuery({ [side]: id })}
            />
          ))}
          {[left, right].map(({ stage }) => stage.state !== 'up-to-date' && <Badge look="warn">{stage.id} is out of date</Badge>)}
        </>
      }
    >
      <CocoTable left={left.stage} right={right.stage} />
      {pipeline.project.access !== 'saved' && <Judgments left={left} right={right} />}
      <Matched left={left} right={right} />
    </View>
  );
}

function Matched({ left, right }: { readonly left: ResultSide; readonly right: ResultSide }) {
  const { query } = usePlace();
  const { result, error } = useResults(left, right);
  const filtered = useMemo(
    () => (result === undefined ? [] : filterRows(result, query)),
    [result, query.kind, query.class, query.size, query.score],
  );
  if (result === undefined) return <Waiting error={error} what="the detections" />;
  const image = filtered.find(({ row }) => row.id === query.image) ?? filtered[0];
  return (
    <>
      <Filters result={result} rows={filtered} />
      {filtered.length === 0 ? (
        <Empty>No image has such objects.</Empty>
      ) : (
        <div class="results">
          <DataTable
            label={`${filtered.length} images`}
            rows={filtered}
            columns={COLUMNS}
            keyOf={({ row }) => row.id}
            picked={image?.row.id}
            pick={({ row }) => setQuery({ image: row.id }, 'replace')}
            visibleRows={16}
          />
          {image !== undefined && (
            <ImagePair
              key={image.row.id}
              row={image.row}
              shown={image.shown}
              side={right}
              names={[left.stage.id, right.stage.id]}
              categories={result.categories}
            />
          )}
        </div>
      )}
      <Confusion result={result} />
    </>
  );
}

interface FiltersProps {
  readonly result: MatchResult;
  readonly rows: readonly FilteredRow[];
}

function Filters({ result: { totals, categories }, rows }: FiltersProps) {
  const { query } = usePlace();
  const set = (name: string) => (value: string) => setQuery({ [name]: value || undefined, image: undefined }, 'replace');
  return (
    <div class="tools">
      <fieldset class="choice">
        <legend class="sr">Objects</legend>
        <button
          type="button"
          aria-pressed={query.kind === undefined}
          onClick={() => setQuery({ kind: undefined, image: undefined }, 'replace')}
        >
          all
        </button>
        {OBJECT_KINDS.map(kind => (
          <button
            type="button"
            key={kind}
            aria-pressed={query.kind === kind}
            onClick={() => setQuery({ kind, image: undefined }, 'replace')}
          >
            {kind} {totals[kind]}
          </button>
        ))}
      </fieldset>
      <Select
        label="Class"
        value={query.class ?? ''}
        choices={Object.entries(categories).map(([id, name]) => [id, plainText(name)])}
        none="all"
        pick={set('class')}
      />
      <Select label="Size" value={query.size ?? ''} choices={Object.keys(SIZES)} none="all" pick={set('size')} />
      <Select label="Score from" value={query.score ?? ''} choices={['0.1', '0.3', '0.5', '0.7']} none="0" pick={set('score')} />
      <ExportButton rows={rows} categories={categories} />
    </div>
  );
}

function count(kind: ObjectKind): ColumnSpec<FilteredRow> {
  const of = ({ shown }: FilteredRow): number => shown.filter(one => one.kind === kind).length;
  return { name: kind, title: kind, numeric: true, first: 'down', rank: of, cell: row => of(row) || '' };
}

const COLUMNS: readonly ColumnSpec<FilteredRow>[] = [
  {
    name: 'file',
    title: 'Image',
    rank: ({ row }) => row.file,
    cell: ({ row }) => <NameCell name={row.file || row.id} />,
  },
  ...OBJECT_KINDS.map(count),
];
