/** The view "Results" of classifiers: the predictions of two stages side by side, filtered by what changed, and what they confuse. */

import { useMemo } from 'preact/hooks';
import type { Figure } from '../../../base/figure.js';
import { formatFixed } from '../../../report/numbers.js';
import type { FigureView, StageRow } from '../../../report/views/pipeline-data.js';
import { address } from '../api/client.js';
import { setQuery, usePlace } from '../api/router.js';
import { useData } from '../api/use-data.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { FigureText } from '../parts/figure.js';
import { Link } from '../parts/link.js';
import { NameCell } from '../parts/name-cell.js';
import { Badge, Empty, Waiting } from '../parts/notice.js';
import { type PlainColumn, PlainTable } from '../parts/plain-table.js';
import { Select } from '../parts/select.js';
import { isOutdated } from '../parts/states.js';
import { plainText } from '../parts/text.js';
import { View } from '../parts/view.js';
import {
  CLASS_KINDS,
  type ClassifiedImage,
  type ClassKind,
  type Confusion,
  joinPredictions,
  listConfusions,
  listPredictions,
  nameClasses,
  type Prediction,
  parsePredictions,
} from './class-results.js';
import { ExportButton } from './export-list.js';
import { Picture } from './picture.js';

export function findClassifiers(stages: readonly StageRow[]): readonly StageRow[] {
  return stages.filter(
    ({ plugin, built, outputs }) =>
      plugin === 'evaluate-classes' && built && outputs.some(({ port, absent }) => port === 'predictions' && absent !== true),
  );
}

export function ClassPage({ stages }: { readonly stages: readonly StageRow[] }) {
  const { query } = usePlace();
  const left = stages.find(({ id }) => id === query.left) ?? stages[0];
  const right = stages.find(({ id }) => id === query.right) ?? stages.at(-1);
  if (left === undefined || right === undefined) return null;
  return (
    <View
      title="Results"
      tools={
        <>
          <Select label="Left" value={left.id} choices={stages.map(({ id }) => id)} pick={id => setQuery({ left: id })} />
          <Select label="Right" value={right.id} choices={stages.map(({ id }) => id)} pick={id => setQuery({ right: id })} />
          {[...new Set([left, right])].map(
            stage =>
              isOutdated(stage) && (
                <Badge key={stage.id} look="warn">
                  {stage.id} is out of date
                </Badge>
              ),
          )}
        </>
      }
    >
      <Classified key={`${left.id} ${right.id}`} left={left} right={right} />
    </View>
  );
}

function usePredictions({ id, outputs }: StageRow) {
  const digest = outputs.find(({ port }) => port === 'predictions')?.digest?.slice(0, 16);
  return useData(address('artifact', { stage: id, port: 'predictions', v: digest }), 'once', parsePredictions);
}

function Classified({ left, right }: { readonly left: StageRow; readonly right: StageRow }) {
  const { query } = usePlace();
  const [one, other] = [usePredictions(left), usePredictions(right)];
  const images = useMemo(
    () => (one.data === undefined || other.data === undefined ? undefined : joinPredictions(one.data, other.data)),
    [one.data, other.data],
  );
  const shown = useMemo(() => (images ?? []).filter(({ kind }) => query.kind === undefined || kind === query.kind), [images, query.kind]);
  const confusions = useMemo(() => listConfusions(images ?? []), [images]);
  const nameOf = useMemo(() => namerOf(nameClasses(images ?? [])), [images]);
  if (images === undefined) return <Waiting error={one.error ?? other.error} what="the predictions" />;
  const picked = shown.find(({ file }) => file === query.image) ?? shown[0];
  return (
    <>
      <PlainTable label="Figures" rows={figuresOf(left, right)} columns={figureColumns(left.id, right.id)} keyOf={({ metric }) => metric} />
      <Kinds images={images} shown={shown} />
      {picked === undefined ? (
        <Empty>No image is of this kind.</Empty>
      ) : (
        <div class="results">
          <DataTable
            label={`${shown.length} images`}
            rows={shown}
            columns={imageColumns(nameOf)}
            keyOf={({ file }) => file}
            picked={picked.file}
            pick={({ file }) => setQuery({ image: file }, 'replace')}
            visibleRows={16}
          />
          <div class="pair">
            <Picture key={picked.file} stage={right.id} images="images" file={picked.file} />
            <div class="two">
              <Best name={left.id} prediction={picked.left} nameOf={nameOf} />
              <Best name={right.id} prediction={picked.right} nameOf={nameOf} />
            </div>
            <p>
              <Link view="tensor" query={{ of: right.id, image: picked.file }}>
                its tensors
              </Link>
            </p>
          </div>
        </div>
      )}
      <section>
        <h2>Confused classes</h2>
        {confusions.length === 0 ? (
          <Empty>Every prediction is right.</Empty>
        ) : (
          <DataTable
            label="Confused classes"
            rows={confusions}
            columns={confusionColumns(left.id, right.id, nameOf)}
            keyOf={({ label, predicted }) => `${label} ${predicted}`}
            visibleRows={14}
          />
        )}
      </section>
    </>
  );
}

interface FigureRow {
  readonly metric: string;
  readonly label: string;
  readonly unit: FigureView['unit'];
  readonly left: Figure | undefined;
  readonly right: Figure | undefined;
}

/** The headlines of the right side, such as the accuracy of its best class, beside those of the left side. */
function figuresOf(left: StageRow, right: StageRow): readonly FigureRow[] {
  const figureOf = ({ figures }: StageRow, metric: string) => figures.find(one => one.metric === metric)?.value;
  return right.figures.map(({ metric, label, unit, value }) => ({ metric, label, unit, left: figureOf(left, metric), right: value }));
}

function figureColumns(left: string, right: string): readonly PlainColumn<FigureRow>[] {
  const cell = (value: Figure | undefined, unit: FigureView['unit'], previous?: Figure) =>
    value === undefined ? '–' : <FigureText value={value} unit={unit} {...(previous === undefined ? {} : { previous })} />;
  return [
    { title: 'Figure', cell: ({ label }) => plainText(label) },
    { title: left, look: 'n', cell: row => cell(row.left, row.unit) },
    ...(left === right ? [] : [{ title: right, look: 'n', cell: (row: FigureRow) => cell(row.right, row.unit, row.left) }]),
  ];
}

function Kinds({ images, shown }: { readonly images: readonly ClassifiedImage[]; readonly shown: readonly ClassifiedImage[] }) {
  const { query } = usePlace();
  const pick = (kind: string | undefined) => () => setQuery({ kind, image: undefined }, 'replace');
  return (
    <div class="tools">
      <fieldset class="choice">
        <legend class="sr">Images</legend>
        <button type="button" aria-pressed={query.kind === undefined} onClick={pick(undefined)}>
          all {images.length}
        </button>
        {CLASS_KINDS.map(kind => (
          <button type="button" key={kind} title={WORDS[kind]} aria-pressed={query.kind === kind} onClick={pick(kind)}>
            {kind} {images.filter(one => one.kind === kind).length}
          </button>
        ))}
      </fieldset>
      <ExportButton file="images.csv" hint="These images with the best class of each side" list={() => listPredictions(shown)} />
    </div>
  );
}

const WORDS: Readonly<Record<ClassKind, string>> = {
  lost: 'Only the left side is right',
  found: 'Only the right side is right',
  changed: 'Both are wrong, with different classes',
  right: 'Both are right',
  wrong: 'Both are wrong, with the same class',
};

const TONES: Readonly<Record<ClassKind, string>> = { lost: 'bad', found: 'warn', changed: 'violet', right: 'good', wrong: 'mute' };

/** The number of a class, with its name where it has one. */
type NameClass = (label: number | undefined) => string;

function namerOf(names: ReadonlyMap<number, string>): NameClass {
  return label => {
    if (label === undefined) return '–';
    const name = names.get(label);
    return name === undefined ? String(label) : `${label} ${plainText(name)}`;
  };
}

interface BestProps {
  readonly name: string;
  readonly prediction: Prediction;
  readonly nameOf: NameClass;
}

function Best({ name, prediction: { label, classes, scores }, nameOf }: BestProps) {
  return (
    <div>
      <h3>{name}</h3>
      <table class="narrow">
        <tbody>
          {classes.map((one, index) => (
            <tr key={one}>
              <th scope="row" class={one === label ? 'good' : ''}>
                {one === label ? '✓ ' : ''}class {nameOf(one)}
              </th>
              <td class="n">{formatFixed(scores[index] ?? 0, 4)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function imageColumns(nameOf: NameClass): readonly ColumnSpec<ClassifiedImage>[] {
  const best = ({ classes }: Prediction): string => nameOf(classes[0]);
  return [
    { name: 'file', title: 'Image', rank: ({ file }) => file, cell: ({ file }) => <NameCell name={file} /> },
    { name: 'label', title: 'Label', rank: ({ label }) => label, cell: ({ label }) => nameOf(label) },
    { name: 'left', title: 'Left', rank: ({ left }) => left.classes[0], cell: ({ left }) => best(left) },
    { name: 'right', title: 'Right', rank: ({ right }) => right.classes[0], cell: ({ right }) => best(right) },
    { name: 'kind', title: 'What', rank: ({ kind }) => kind, cell: ({ kind }) => <span class={TONES[kind]}>{plainText(kind)}</span> },
  ];
}

function confusionColumns(left: string, right: string, nameOf: NameClass): readonly ColumnSpec<Confusion>[] {
  return [
    { name: 'label', title: 'Label', rank: ({ label }) => label, cell: ({ label }) => nameOf(label) },
    { name: 'predicted', title: 'Predicted', rank: ({ predicted }) => predicted, cell: ({ predicted }) => nameOf(predicted) },
    { name: 'left', title: left, numeric: true, first: 'down', rank: row => row.left, cell: row => row.left },
    {
      name: 'right',
      title: `${right}${left === right ? ' (right)' : ''}`,
      numeric: true,
      first: 'down',
      rank: row => row.right,
      cell: row => row.right,
    },
  ];
}
