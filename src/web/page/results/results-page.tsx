/** The view "Results": images with the detections of two stages side by side, filtered by what changed. */

import { useMemo } from 'preact/hooks';
import type { JudgedSides } from '../../../detection/coco/judged-sides.js';
import { setQuery, usePlace } from '../api/router.js';
import { useData } from '../api/use-data.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { NameCell } from '../parts/name-cell.js';
import { Badge, Empty, Waiting } from '../parts/notice.js';
import { Select } from '../parts/select.js';
import { isOutdated } from '../parts/states.js';
import { plainText } from '../parts/text.js';
import { View } from '../parts/view.js';
import type { ViewProps } from '../parts/view-props.js';
import { ClassPage, findClassifiers } from './class-page.js';
import { CocoTable } from './coco-table.js';
import { Confusion } from './confusion.js';
import { ExportButton } from './export-list.js';
import { countOf, type Filtered, filterRows, SIZES } from './filter-rows.js';
import { ImagePair } from './image-pair.js';
import { Judgments } from './judgments.js';
import { imageAt } from './object-columns.js';
import { listObjects } from './object-list.js';
import { type ListedImage, type MatchResult, OBJECT_KINDS } from './result-types.js';
import { Subset } from './subset.js';
import { findSides, nameOf, type ResultSide, useMasks, useResults } from './use-results.js';

export function ResultsPage({ pipeline }: ViewProps) {
  const { query } = usePlace();
  const sides = useMemo(() => findSides(pipeline.stages), [pipeline]);
  // A saved page holds the lost and found objects of two sides: those are shown first.
  const judged = useData<JudgedSides>(pipeline.project.access === 'saved' ? 'judgments' : undefined, 'once').data?.sides ?? [];
  const find = (id: string | undefined): ResultSide | undefined => sides.find(({ stage }) => stage.id === id);
  const [leftSide, rightSide] = [
    find(query.left) ?? find(judged[0]?.stage) ?? sides[0],
    find(query.right) ?? find(judged.at(-1)?.stage) ?? sides.at(-1),
  ];
  const classifiers = findClassifiers(pipeline.stages);
  if (sides.length === 0 && classifiers.length > 0) return <ClassPage stages={classifiers} />;
  if (leftSide === undefined || rightSide === undefined)
    return (
      <Empty>
        No built stage has detections or predictions on a data set. A stage that uses “evaluate” or “evaluate-classes” writes them.
      </Empty>
    );
  const left = { ...leftSide, of: query.leftof };
  const right = { ...rightSide, of: query.rightof };
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
              pick={id => setQuery({ [side]: id, [`${side}of`]: undefined })}
            />
          ))}
          {[left, right].map(
            ({ of }, index) =>
              of !== undefined &&
              of !== 'now' && (
                <span key={index} class="buttons">
                  <Badge look="info">
                    {index === 0 ? 'left' : 'right'}: {of}
                  </Badge>
                  <button type="button" class="as-link" onClick={() => setQuery({ [index === 0 ? 'leftof' : 'rightof']: undefined })}>
                    show the present one
                  </button>
                </span>
              ),
          )}
          {[...new Map([left, right].map(one => [nameOf(one), one])).values()].map(
            ({ stage, of }) =>
              isOutdated(stage) &&
              of === undefined && (
                <Badge key={stage.id} look="warn">
                  {stage.id} is out of date
                </Badge>
              ),
          )}
        </>
      }
    >
      <CocoTable left={left} right={right} />
      {pipeline.project.access === 'full' && <Subset stages={[left.stage, right.stage]} />}
      <Matched left={left} right={right} isLive={pipeline.project.access !== 'saved'} />
      <Judgments left={left} right={right} sides={sides} isSaved={pipeline.project.access === 'saved'} />
    </View>
  );
}

interface MatchedProps {
  readonly left: ResultSide;
  readonly right: ResultSide;
  /** Whether values of models can be computed. */
  readonly isLive: boolean;
}

function Matched({ left, right, isLive }: MatchedProps) {
  const { query } = usePlace();
  const results = useResults(left, right);
  const { images, result, error } = results;
  const filtered = useMemo(
    () => (result === undefined ? undefined : filterRows(result, query)),
    [result, query.kind, query.class, query.size, query.score],
  );
  const columns = useMemo(() => (result === undefined || filtered === undefined ? [] : columnsOf(result, filtered)), [result, filtered]);
  const place = useMemo(
    () => (result === undefined || filtered === undefined ? undefined : findImage(result, filtered, query.image)),
    [result, filtered, query.image],
  );
  const row = useMemo(() => (result === undefined || place === undefined ? undefined : imageAt(result, place)), [result, place]);
  const masks = useMasks(results, query.masks === 'off' ? undefined : place);
  if (result === undefined || filtered === undefined)
    return images === undefined || error !== undefined ? <Waiting error={error} what="the detections" /> : <FirstImages images={images} />;
  return (
    <>
      <Filters result={result} filtered={filtered} />
      {row === undefined || place === undefined ? (
        <Empty>No image has such objects.</Empty>
      ) : (
        <div class="results">
          <DataTable
            label={`${filtered.images.length} images`}
            rows={filtered.images}
            columns={columns}
            keyOf={idOf(result)}
            picked={row.id}
            pick={image => setQuery({ image: result.images[image]?.id }, 'replace')}
            visibleRows={16}
          />
          <ImagePair
            key={row.id}
            row={row}
            kept={filtered.kept}
            masks={masks?.masks}
            masksProblem={masks?.problem}
            hasMasks={result.hasMasks}
            sides={[left, right]}
            categories={result.categories}
            isLive={isLive}
          />
        </div>
      )}
      <Confusion result={result} />
    </>
  );
}

/** The images of the data set, until their detections are matched: nothing can be picked or filtered yet. */
function FirstImages({ images }: { readonly images: readonly ListedImage[] }) {
  return (
    <>
      <p class="empty" role="status">
        Loading and matching the detections of the images …
      </p>
      <div class="results" aria-busy="true">
        <DataTable label="Images of the data set" rows={images} columns={FIRST_COLUMNS} keyOf={({ id }) => id} visibleRows={16} />
      </div>
    </>
  );
}

const FIRST_COLUMNS: readonly ColumnSpec<ListedImage>[] = [
  { name: 'file', title: 'Image', rank: ({ file }) => file, cell: ({ file, id }) => <NameCell name={file || id} /> },
];

function idOf({ images }: MatchResult): (image: number) => string {
  return image => images[image]?.id ?? '';
}

/** The image of the address if the filters keep it, else the first one. */
function findImage({ images }: MatchResult, filtered: Filtered, id: string | undefined): number | undefined {
  return (id === undefined ? undefined : filtered.images.find(image => images[image]?.id === id)) ?? filtered.images[0];
}

interface FiltersProps {
  readonly result: MatchResult;
  readonly filtered: Filtered;
}

function Filters({ result, filtered }: FiltersProps) {
  const { query } = usePlace();
  const { totals, categories } = result;
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
        choices={categories.map(({ id, name }) => [id, plainText(name)] as const)}
        none="all"
        pick={set('class')}
      />
      <Select label="Size" value={query.size ?? ''} choices={Object.keys(SIZES)} none="all" pick={set('size')} />
      <Select label="Score from" value={query.score ?? ''} choices={['0.1', '0.3', '0.5', '0.7']} none="0" pick={set('score')} />
      <ExportButton file="objects.csv" hint="The objects of these images" list={() => listObjects(result, filtered)} />
    </div>
  );
}

function columnsOf({ images }: MatchResult, filtered: Filtered): readonly ColumnSpec<number>[] {
  return [
    {
      name: 'file',
      title: 'Image',
      rank: image => images[image]?.file ?? '',
      cell: image => <NameCell name={images[image]?.file || (images[image]?.id ?? '')} />,
    },
    ...OBJECT_KINDS.map(
      (kind, index): ColumnSpec<number> => ({
        name: kind,
        title: kind,
        numeric: true,
        first: 'down',
        rank: image => countOf(filtered, image, index),
        cell: image => countOf(filtered, image, index) || '',
      }),
    ),
  ];
}
