/** The view "Runs": the history with figures and changed parameters, a scatter of two figures, and several runs side by side. */
import { useMemo } from 'preact/hooks';
import type { Figure } from '../../../base/figure.js';
import { formatDuration } from '../../../base/text/format.js';
import type { RunRow, RunsView } from '../../views/runs-view.js';
import { setQuery, usePlace } from '../api/router.js';
import { useData } from '../api/use-data.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { formatUnit, type Unit } from '../parts/figure-format.js';
import { Empty, Waiting } from '../parts/notice.js';
import { Select } from '../parts/select.js';
import { StateText } from '../parts/state-text.js';
import { formatTime, plainText } from '../parts/text.js';
import type { ViewProps } from '../parts/view-props.js';
import { BaselineForm } from './baseline-form.js';
import { Comparison } from './comparison.js';
import { differingParams, type Point, type ScatterFigures, textOf } from './point-axes.js';
import { Points } from './points.js';
import { Sweeps } from './sweeps.js';

export function RunsPage({ pipeline }: ViewProps) {
  const { data, error } = useData<RunsView>('runs');
  const { query } = usePlace();
  const headlines = useMemo(
    () =>
      pipeline.stages.flatMap(({ id, figures }) =>
        figures.map(({ metric, label, unit }): FigureColumn => ({ key: `${id}.${metric}`, label: `${id} ${label}`, unit })),
      ),
    [pipeline],
  );
  const points = useMemo(
    () => (data?.runs ?? []).map((row): Point => ({ name: row.run, params: row.params, figures: row.figures })),
    [data],
  );
  if (data === undefined) return <Waiting error={error} what="the runs" />;
  const { runs, baselines } = data;
  if (runs.length === 0)
    return (
      <>
        <Empty>No build has changed a result yet. The first build that runs a stage becomes run r1.</Empty>
        <Sweeps pipeline={pipeline} />
      </>
    );
  const picked = (query.of ?? '').split(',').filter(name => name !== '');
  const toggle = (name: string): void =>
    setQuery({ of: (picked.includes(name) ? picked.filter(one => one !== name) : [...picked, name]).join(',') || undefined }, 'replace');
  const figures = chooseFigures(query.figures, runs, headlines);
  return (
    <div class="view">
      <h1>Runs</h1>
      <p class="soft">
        Check two or more runs, baselines or “now” to compare them. Figures of stages that a run did not change are those of the run that
        made them.
      </p>
      <div class="tools">
        {['now', ...baselines.map(name => `baseline:${name}`)].map(name => (
          <label key={name}>
            <input type="checkbox" checked={picked.includes(name)} onChange={() => toggle(name)} /> {name.replace(':', ' ')}
          </label>
        ))}
        <FigurePicker runs={runs} chosen={figures.map(({ key }) => key)} />
      </div>
      <DataTable
        label={`${runs.length} runs`}
        rows={runs}
        columns={columnsOf(runs, figures, picked, toggle)}
        keyOf={({ run }) => run}
        visibleRows={14}
      />
      {runs.length > 1 && (
        <Points
          title="Figures and parameters of all runs"
          points={points}
          figures={figures.map(({ key }) => key)}
          first={chooseFirst(figures)}
          prefix=""
          level={2}
          picked={picked}
          toggle={toggle}
        />
      )}
      {isSavable(picked) && pipeline.project.access === 'full' && (
        <BaselineForm key={picked[0]} of={picked[0] ?? ''} baselines={baselines} />
      )}
      {picked.length > 0 ? <Comparison names={picked} pipeline={pipeline} /> : <Empty>Nothing is picked for comparison.</Empty>}
      <Sweeps pipeline={pipeline} />
    </div>
  );
}

/** One run, or the present results. */
function isSavable(picked: readonly string[]): boolean {
  return picked.length === 1 && picked[0]?.startsWith('baseline:') === false;
}

interface FigureColumn {
  readonly key: string;
  readonly label: string;
  readonly unit: Unit;
}

/** The box and mask AP of the last model, and two figures of `compile` and `bench` each. */
const MOST_FIGURES = 6;

function chooseFigures(asked: string | undefined, runs: readonly RunRow[], headlines: readonly FigureColumn[]): readonly FigureColumn[] {
  const known = new Set(allFigures(runs));
  if (asked !== undefined) {
    const keys = asked.split(',').filter(key => known.has(key));
    if (keys.length > 0) return keys.map(key => headlines.find(one => one.key === key) ?? { key, label: key, unit: undefined });
  }
  const found = headlines.filter(({ key }) => known.has(key));
  return found.slice(-MOST_FIGURES);
}

/** The first accuracy over the first time, which is what is paid for it; nothing where the runs have not both. */
function chooseFirst(figures: readonly FigureColumn[]): ScatterFigures | undefined {
  const time = figures.find(({ unit }) => unit === 'ms');
  const accuracy = figures.find(({ unit }) => unit === undefined);
  return time === undefined || accuracy === undefined ? undefined : { x: time.key, y: accuracy.key, goals: ['least', 'most'] };
}

export function allFigures(runs: readonly RunRow[]): readonly string[] {
  return [...new Set(runs.flatMap(({ figures }) => Object.keys(figures)))].sort();
}

function FigurePicker({ runs, chosen }: { readonly runs: readonly RunRow[]; readonly chosen: readonly string[] }) {
  const others = allFigures(runs).filter(key => !chosen.includes(key));
  return (
    <>
      <Select
        label="Figure"
        value=""
        choices={others}
        none="add a column …"
        pick={key => key !== '' && setQuery({ figures: [...chosen, key].join(',') }, 'replace')}
      />
      {chosen.length > 1 && (
        <button type="button" class="quiet" onClick={() => setQuery({ figures: chosen.slice(0, -1).join(',') }, 'replace')}>
          Remove the last column
        </button>
      )}
    </>
  );
}

function columnsOf(
  runs: readonly RunRow[],
  figures: readonly FigureColumn[],
  picked: readonly string[],
  toggle: (name: string) => void,
): readonly ColumnSpec<RunRow>[] {
  return [
    {
      name: 'run',
      title: 'Run',
      rank: ({ run }) => Number(run.slice(1)),
      first: 'down',
      cell: ({ run }) => (
        <label class="run">
          <input type="checkbox" checked={picked.includes(run)} onChange={() => toggle(run)} /> {run}
        </label>
      ),
    },
    { name: 'started', title: 'Started', rank: ({ started }) => started, cell: ({ started }) => formatTime(started) },
    {
      name: 'conclusion',
      title: 'End',
      rank: ({ conclusion }) => conclusion,
      cell: ({ conclusion }) => <StateText state={conclusion} />,
    },
    {
      name: 'duration',
      title: 'Took',
      numeric: true,
      rank: ({ durationMs }) => durationMs,
      cell: ({ durationMs }) => formatDuration(durationMs),
    },
    ...differingParams(runs).map(
      (name): ColumnSpec<RunRow> => ({
        name: `param ${name}`,
        title: <code>{name}</code>,
        hint: 'A parameter of the pipeline that differs between runs',
        rank: ({ params }) => textOf(params[name]),
        cell: ({ params }) => <code>{plainText(textOf(params[name]))}</code>,
      }),
    ),
    ...figures.map(
      ({ key, label, unit }): ColumnSpec<RunRow> => ({
        name: key,
        title: label,
        hint: key,
        numeric: true,
        rank: ({ figures: own }) => rankOf(own[key]),
        first: 'down',
        cell: ({ figures: own }) => (own[key] === undefined ? '–' : formatUnit(own[key], unit)),
      }),
    ),
    {
      name: 'gates',
      title: 'Gates',
      rank: ({ gates }) => gates.missed,
      cell: ({ gates: { met, missed } }) =>
        met + missed === 0 ? '–' : missed > 0 ? <span class="bad">✗ {missed} missed</span> : <span class="good">✓ {met} met</span>,
    },
    {
      name: 'revision',
      title: 'Revision',
      cell: ({ revision, edited }) =>
        revision === undefined ? (
          ''
        ) : (
          <span title={edited === true ? 'Tracked files differed from the revision' : undefined}>
            <code>{revision.slice(0, 8)}</code>
            {edited === true && <span class="warn"> edited</span>}
          </span>
        ),
    },
    { name: 'changes', title: 'What changed', cell: ({ changes }) => <span class="soft one-line">{plainText(changes.join('; '))}</span> },
  ];
}

function rankOf(value: Figure | undefined): number | undefined {
  return value === 'equal' ? Number.POSITIVE_INFINITY : value;
}
